"""`tapewise demo`: the main steps, shown with the example logs, from log files to printed answers."""
