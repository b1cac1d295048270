"""`tapewise demo`: the main job on the example logs, from log files to answers on the terminal."""
