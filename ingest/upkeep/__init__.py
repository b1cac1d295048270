"""What is done with what was loaded: explain a row, read rejects again, drop, replace and forget."""
