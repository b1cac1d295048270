"""Predicts how an archive would perform with different hardware, by running traces on simulated machines."""
