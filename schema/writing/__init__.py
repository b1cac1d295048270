"""What every writer of facts needs: bulk loading, names, the rollup, month partitions, the archive lock."""
