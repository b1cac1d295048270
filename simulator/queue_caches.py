"""Replays of uses by rules that are no weights, in libcachesim: ARC, S3-FIFO and SIEVE.

They keep files in queues whose order their uses change, so no formula says which file leaves first. They know
no water marks and no locks. libcachesim is an extra, and importing this module without it fails.

- Each version of a file has an id of its own, because libcachesim keeps the size that an id came with.
- A put is a use as a get is, and fills the disk; the caller counts the gets among the misses.
- A file that a rule never keeps displaces no other. libcachesim does the same, but for a file as large as
  the small queue of S3-FIFO, for which it drops others in vain.
- ARC's target for files that were used once moves by the ratio of two queues for each miss of a file dropped
  lately. In the paper, the unit is a page. libcachesim takes a byte, whatever the sizes of files, so on a
  disk of real files the target hardly leaves 0: files that were used once are dropped first.

ARC: Megiddo and Modha, FAST '03. S3-FIFO: Yang and others, SOSP '23. SIEVE: Zhang and others, NSDI '24.
"""

from collections.abc import Iterable, Iterator

import libcachesim
import numpy as np

from tapewise.simulator.policies import Policy, find_largest_kept
from tapewise.simulator.uses import Booleans, Uses, count_files

CLASSES = {"arc": "ARC", "s3fifo": "S3FIFO", "sieve": "Sieve"}


def replay_queues(uses: Uses, policy: Policy, capacities: Iterable[int]) -> Iterator[Booleans]:
    """Replay the uses on a disk of each size, and yield which of them it misses."""
    # The default of 2^24 chains would take 137 MB a disk.
    hash_power = min(max(count_files(uses.files).bit_length(), 10), 24)
    for capacity in capacities:
        is_miss = np.ones(uses.files.size, np.bool_)
        is_kept = uses.sizes <= find_largest_kept(policy, capacity)
        if not is_kept.any():  # a disk of a few bytes, for which libcachesim would end the process
            yield is_miss
            continue
        cache = getattr(libcachesim, CLASSES[policy])(cache_size=capacity, hashpower=hash_power)
        request, get = libcachesim.Request(), cache.get
        hits = []
        # libcachesim replays whole traces only from files, and then says only two ratios of all uses.
        for request.obj_id, request.obj_size in zip(
            uses.files[is_kept].tolist(), uses.sizes[is_kept].tolist(), strict=True
        ):
            hits.append(get(request))
        is_miss[is_kept] = ~np.array(hits, np.bool_)
        yield is_miss
