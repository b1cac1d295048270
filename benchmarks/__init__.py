"""Measurements that compare Tapewise with its peers within one run; they print results and store nothing."""
