"""What is asked of a machine: traces, and streams that are made from workload models."""
