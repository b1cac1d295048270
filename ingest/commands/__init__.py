"""The commands of `tapewise` that read logs and manage what was read."""
