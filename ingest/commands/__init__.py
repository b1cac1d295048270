"""The commands of `tapewise` that read logs and keep what was read."""
