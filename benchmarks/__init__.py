"""Measurements that compare Tapewise with its peers within one run; they only print, and store nothing."""
