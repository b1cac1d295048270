"""The words that our prose avoids, and the check that finds them."""
