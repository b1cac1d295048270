"""What caches are compared with: libcachesim, which replays a binary file of all uses at its own speed."""

import time
from pathlib import Path

import numpy as np

from tapewise.simulator.uses import Uses, count_files, find_next_uses

# Our rules, and libcachesim's classes. It has none like `size_age`.
CLASSES = {"lru": "LRU", "fifo": "FIFO", "gdsf": "GDSF", "belady": "Belady",
           "arc": "ARC", "s3fifo": "S3FIFO", "sieve": "Sieve"}  # fmt: skip
_ROW = [("second", "<u8"), ("file", "<u8"), ("bytes", "<u8"), ("next", "<i8")]
_NEVER = np.iinfo(np.int64).max


def write_uses(uses: Uses, path: Path) -> None:
    """Write the uses as libcachesim reads them. It skips files of 0 bytes."""
    rows = np.empty(uses.files.size, _ROW)
    rows["second"], rows["file"], rows["bytes"] = uses.times // 1_000_000, uses.files, uses.sizes
    next_uses = find_next_uses(uses.files)
    rows["next"] = np.where(next_uses < uses.files.size, next_uses + 1, _NEVER)  # it counts from 1
    rows.tofile(path)


def time_replay(path: Path, uses: Uses, policy: str, capacity: int) -> tuple[float, int]:
    """Replay the file on a disk; return the CPU seconds, and how many uses missed, puts included."""
    import libcachesim  # noqa: PLC0415  # only some have it

    fields = libcachesim.ReaderInitParam(binary_fmt_str="<QQQq")
    fields.time_field, fields.obj_id_field, fields.obj_size_field, fields.next_access_vtime_field = 1, 2, 3, 4
    reader = libcachesim.TraceReader(str(path), libcachesim.TraceType.BIN_TRACE, fields)
    hash_power = min(max(count_files(uses.files).bit_length(), 10), 24)
    cache = getattr(libcachesim, CLASSES[policy])(cache_size=capacity, hashpower=hash_power)
    begin = time.process_time()
    miss_ratio, _ = cache.process_trace(reader)
    return time.process_time() - begin, round(miss_ratio * uses.files.size)
