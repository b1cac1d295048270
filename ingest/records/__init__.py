"""The record that a line becomes: its columns, and what all formats share."""
