"""What every writer of facts needs: bulk loading, names, the rollup, months, the lock of an archive."""
