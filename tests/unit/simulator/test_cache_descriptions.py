"""Each disk's line shows the run of its own rule, size and pool; nothing where there was none."""

import json
from dataclasses import replace

from tapewise.simulator.cache_descriptions import describe_misses, write_json
from tapewise.simulator.cache_runs import DiskRun
from tapewise.simulator.caches import CacheMisses
from tapewise.simulator.locks import Locks

DISKS = [("lru", "low"), ("fifo", "low"), ("belady", "low"), ("lru", "others")]
RUNS = {
    ("lru", 10, "low"): DiskRun(1, 2, 3.0, 4.0, 5.0, 6.0),
    ("fifo", 10, "low"): DiskRun(7, None, None, 8.0, 9.0, 11.0),
}
MISSES = [CacheMisses(policy, 10, 4, 2, 8, 1, 0, pool=pool) for policy, pool in DISKS]
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


def test_the_other_placement_has_a_line_of_its_own() -> None:
    by_user = DiskRun(1, 20, 30.0, 4.5, 5.5, 6.5, placement="user")
    no_run = DiskRun(None, None, None, None, None, None, placement="user", fault="too few cartridges")
    own = RUNS["lru", 10, "low"]
    runs = {
        ("lru", 10, "low"): replace(own, placement="time", other=by_user),
        ("fifo", 10, "low"): replace(own, placement="time", other=no_run),
    }
    rows = [json.loads(line) for line in write_json(MISSES, None, runs)]
    assert [row["placement"] for row in rows] == ["time", "time", None, None]
    figures = {"placement": "user"} | dict(zip(NAMES, (1, 20, 30, 4.5, 5.5, 6.5), strict=True))
    fault = {"placement": "user", "fault": "too few cartridges"}
    assert [row["other_placement"] for row in rows] == [figures, fault, None, None]
    lines = list(describe_misses(MISSES, None, runs))
    assert sum("by time and by user" in line for line in lines) == 1
    assert "fifo with 10 B: by user, there is no run: too few cartridges" in lines
    assert "missed  placed by  stages" in lines[-6]
    assert [line.split() for line in lines[-5:-2]] == [
        ["low", "lru", "10", "B", "2", "0.5000", "8", "B", "time", "1", "2", "3.0", "4.0", "5.0", "6.0"],
        ["low", "lru", "10", "B", "user", "1", "20", "30.0", "4.5", "5.5", "6.5"],
        ["low", "fifo", "10", "B", "2", "0.5000", "8", "B", "time", "1", "2", "3.0", "4.0", "5.0", "6.0"],
    ]
    assert not any("by time and by user" in line for line in describe_misses(MISSES, None, RUNS))


def test_gets_of_files_that_are_too_large_are_said_for_each_disk() -> None:
    small, large = (CacheMisses("lru", size, 4, 3, 8, 1, count, 0) for size, count in ((10, 2), (20, 0)))
    runs = {
        ("lru", 10, None): replace(RUNS["lru", 10, "low"], left_out_get_count=2),
        ("lru", 20, None): RUNS["lru", 10, "low"],
    }
    for locks in (None, Locks()):
        rows = [json.loads(line) for line in write_json([small, large], locks, runs)]
        assert [(row["too_large_count"], row["left_out_get_count"]) for row in rows] == [(2, 2), (0, 0)]
    lines = list(describe_misses([small, large], None, runs))
    assert sum("some files are larger than a disk" in line for line in lines) == 1
    assert sum("runs leave out gets of files" in line for line in lines) == 1
    assert "too large  left out  stages" in lines[-3]
    assert [line.split()[7:9] for line in lines[-2:]] == [["2", "2"], ["0", "0"]]
    lines = list(describe_misses([large], None, None))
    assert len(lines) == 3 and "large" not in lines[-2]
