"""Pages that `tapewise report --html` writes, in Debian's chromium and an HTML validator."""
