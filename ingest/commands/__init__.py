"""The `tapewise` commands that read logs and manage what was read."""
