"""Each disk's line shows the run of its own rule, size and pool; nothing where there was none."""

import json

from tapewise.simulator.cache_descriptions import describe_misses, write_json
from tapewise.simulator.cache_runs import DiskRun
from tapewise.simulator.caches import CacheMisses

DISKS = [("lru", "low"), ("fifo", "low"), ("belady", "low"), ("lru", "others")]
RUNS = {
    ("lru", 10, "low"): DiskRun(1, 2, 3.0, 4.0, 5.0, 6.0),
    ("fifo", 10, "low"): DiskRun(7, None, None, 8.0, 9.0, 11.0),
}
MISSES = [CacheMisses(policy, 10, 4, 2, 8, 1, pool=pool) for policy, pool in DISKS]
NAMES = ("staged_count", "mount_count", "drive_h", "get_wait_p50_s", "get_wait_p95_s", "get_wait_p99_s")


def test_rows_have_the_figures_of_their_own_run() -> None:
    rows = [json.loads(line) for line in write_json(MISSES, None, RUNS)]
    none = [None] * 6
    assert [[row[name] for name in NAMES] for row in rows] == [
        [1, 2, 3, 4, 5, 6], [7, None, None, 8, 9, 11], none, none
    ]  # fmt: skip
    assert not any(name in json.loads(line) for line in write_json(MISSES, None, None) for name in NAMES)


def test_lines_leave_out_what_is_not_known() -> None:
    lines = list(describe_misses(MISSES, None, RUNS))
    assert any("are of the middle" in line for line in lines)
    assert not any("are of the middle" in line for line in describe_misses(MISSES, None, None))
    table = [line.split() for line in lines[-4:]]  # sizes, as `10 B`, are two words
    assert [line[8:] for line in table] == [
        ["1", "2", "3.0", "4.0", "5.0", "6.0"], ["7", "8.0", "9.0", "11.0"], [], []
    ]  # fmt: skip
    # A column that no disk has is not there.
    lines = list(describe_misses(MISSES, None, {("fifo", 10, "low"): RUNS["fifo", 10, "low"]}))
    assert lines[-5].endswith("stages  get p50 s  get p95 s  get p99 s")
