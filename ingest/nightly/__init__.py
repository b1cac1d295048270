"""The nightly round over the sources of `tapewise.toml`, and its metrics."""
