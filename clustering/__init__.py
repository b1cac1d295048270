"""Workload classes: what an archive is asked for, sorted by k-means, and what keeps the stream bursty."""
