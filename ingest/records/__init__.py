"""The record that is made from a line: its columns, and what all formats share."""
