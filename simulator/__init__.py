"""Predicts how the archive would perform with different hardware: machines, and a kernel that runs traces."""
