"""From the bytes of a log file to numbered records, with the balance of its lines. Needs no database."""
