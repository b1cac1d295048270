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


def test_queues_have_no_misses_with_locks() -> None:
    """Their misses are in the column without locks, and what to know about each rule is above the table."""
    found = [
        CacheMisses("lru", 10, 4, 2, 8, 1, 0, 0, 1, 5),
        CacheMisses("arc", 10, 4, None, None, 1, 0, None, 3, 6),
        CacheMisses("s3fifo", 10, 4, None, None, 1, 2, None, 4, 7),
    ]
    rows = [json.loads(line) for line in write_json(found, Locks(), None)]
    names = ("miss_count", "miss_bytes", "crowded_count", "plain_miss_count", "plain_miss_bytes")
    assert [[row[name] for name in names] for row in rows] == [
        [2, 8, 0, 1, 5], [None, None, None, 3, 6], [None, None, None, 4, 7]
    ]  # fmt: skip
    lines = list(describe_misses(found, Locks(), None))
    assert "No water marks and locks for arc, s3fifo: compare the column without locks" in lines[2]
    assert "arc's target by bytes" in lines[3] and "a tenth of the disk" in lines[4]
    assert lines[-4].endswith("too large  without locks")
    assert [line.split()[3:] for line in lines[-3:]] == [
        ["2", "0.5000", "8", "B", "0", "1"], ["0", "3"], ["2", "4"]
    ]  # fmt: skip
    # Alone, they say nothing of marks; without locks, all rules have all columns.
    assert not any("purge" in line for line in describe_misses(found[1:], Locks(), None))
    plain = [CacheMisses("sieve", 10, 4, 2, 8, 1, 0), CacheMisses("lru", 10, 4, 3, 9, 1, 0)]
    lines = list(describe_misses(plain, None, None))
    assert len(lines) == 4 and "locks" not in "".join(lines)


def test_one_get_is_not_one_gets() -> None:
    for count, said in ((1, "1 get. 1 of them is the first use"), (2, "2 gets. 2 of them are the first use")):
        assert next(describe_misses([CacheMisses("lru", 1, count, 1, 1, count, 0)], None, None)).startswith(
            said
        )


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
