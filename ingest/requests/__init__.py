"""What several lines report together: requests, mounts and tape operations, derived after the facts."""
