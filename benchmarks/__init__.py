"""Measurements that compare Tapewise with its peers within one run; they print, and store nothing."""
