"""What the warehouse knows about files it has read: where they ended, and which of their lines it holds."""
