"""What the warehouse knows of files that were read: where they ended, and which of their lines it holds."""
