"""The demand on a machine: traces, and streams generated from workload models."""
