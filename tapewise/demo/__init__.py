"""`tapewise demo`: the main steps on the example logs, from log files to answers on the terminal."""
