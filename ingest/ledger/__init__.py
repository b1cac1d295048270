"""Records of the files that the warehouse has read: where they ended, and which of their lines it holds."""
