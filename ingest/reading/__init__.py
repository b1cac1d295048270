"""Turns the bytes of a log file into numbered records and the balance of its lines. Needs no database."""
