"""What the archive would do if it were built otherwise: machines, and the kernel that runs traces on them."""
