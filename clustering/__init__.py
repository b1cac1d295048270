"""Workload classes: an archive's requests sorted by k-means, and what makes their stream bursty."""
