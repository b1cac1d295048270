"""Workload models: an archive's requests sorted into classes by k-means, and statistics of their bursts."""
