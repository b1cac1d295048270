"""`tapewise simulate cache`, compared with a plain replay of the log's own lines."""

import json
import random
import re
import sys
from collections import OrderedDict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tapewise.cli import main
from tapewise.schema.database import Role
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse

pytestmark = pytest.mark.study("simulator", "sql")

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
MIDDLE = BEGINNING + timedelta(seconds=3000)
SIZES = [1, 500, 4000, 20_000, 10**6]


def make_log(folder: Path) -> list[tuple[datetime, str, str, int]]:
    """Write a log of FTP, and return the time, direction, path and bytes of each transfer that succeeded."""
    dice = random.Random(8)
    sizes: dict[str, int] = {}
    lines, transfers = [], []
    for second in range(600):
        at = BEGINNING + timedelta(seconds=10 * second)
        path = f"/data/{min(int(dice.expovariate(0.05)), 99)}"
        direction = "put" if dice.random() < 0.2 else "get"
        if direction == "put" or path not in sizes:
            sizes[path] = dice.randrange(1, 5000)
        is_complete = dice.random() < 0.95 or direction == "put"
        lines.append(
            f"{at:%a %b %d %H:%M:%S %Y} 1 host.example {sizes[path]} {path} b _"
            f" {'i' if direction == 'put' else 'o'} r kim ftp 0 * {'c' if is_complete else 'i'}\n"
        )
        if is_complete:
            transfers.append((at, direction, path, sizes[path]))
    (folder / "xferlog").write_text("".join(lines))
    return transfers


def replay(
    transfers: list[tuple[datetime, str, str, int]], capacity: int, since: datetime, until: datetime
) -> tuple[int, int, int, int, int]:
    """Return the gets from `since` on, those that miss, their bytes, how many are a first use or too large.

    Each put makes another file.
    """
    names: dict[str, int] = {}
    held: OrderedDict[tuple[str, int], int] = OrderedDict()
    seen = set()
    count = misses = missed = first = large = 0
    for at, direction, path, size in transfers:
        if at >= until:
            continue
        if direction == "put":
            names[path] = names.get(path, 0) + 1
        file = (path, names.get(path, 0))
        if direction == "get" and at >= since:
            count += 1
            first += file not in seen
            large += size > capacity
            if file not in held:
                misses += 1
                missed += size
        seen.add(file)
        held.pop(file, None)
        if size <= capacity:
            while sum(held.values()) + size > capacity:
                held.popitem(last=False)
            held[file] = size
    return count, misses, missed, first, large


def replay_sieve(uses: list[tuple[Any, int]], capacity: int) -> list[bool]:
    """Return which uses miss. The hand moves from old to new files, and drops the first not visited."""
    queue: list[Any] = []
    sizes: dict[Any, int] = {}
    visited: set[Any] = set()
    hand, misses = 0, []
    for file, size in uses:
        misses.append(file not in sizes)
        if file in sizes:
            visited.add(file)
        elif size <= capacity:
            while sum(sizes.values()) + size > capacity:
                while queue[hand] in visited:
                    visited.remove(queue[hand])
                    hand = (hand + 1) % len(queue)
                del sizes[queue.pop(hand)]
                hand %= max(len(queue), 1)
            queue.append(file)
            sizes[file] = size
    return misses


def test_misses_are_those_of_the_log(tapewise, tmp_path: Path) -> None:
    transfers = make_log(tmp_path)
    named = ("--archive", "cached", "--kind", "synthetic", "--timezone", "UTC")
    loaded = tapewise("ingest", *named, "--format", "xferlog", "xferlog")
    assert (loaded.returncode, loaded.stderr) == (0, "")
    locked = ("simulate", "cache", "--archive", "cached", "--sizes", "1B,500B,4kB,20kB,1MB")
    command = ("simulate", "cache", "--archive", "cached", "--empty-start", "--sizes", "1B,500B,4kB,20kB,1MB")
    for options, since, until in (
        ((), BEGINNING, MIDDLE + timedelta(days=1)),
        (("--since", MIDDLE.isoformat()), MIDDLE, MIDDLE + timedelta(days=1)),
        (("--until", MIDDLE.isoformat()), BEGINNING, MIDDLE),
    ):
        asked = tapewise(*command, *options, "--json")
        assert (asked.returncode, asked.stderr) == (0, "")
        rows = [json.loads(line) for line in asked.stdout.splitlines()]
        assert rows == [
            dict(
                zip(
                    (
                        *("policy", "capacity_bytes", "get_count", "miss_count", "miss_bytes"),
                        *("first_count", "too_large_count"),
                    ),
                    ("lru", size, *replay(transfers, size, since, until)),
                    strict=True,
                )
            )
            for size in SIZES
        ]
    heading, warning, columns, *lines = tapewise(*command).stdout.splitlines()
    assert re.fullmatch(r"[0-9]+ gets\. [0-9]+ of them are the first use of their file .*", heading)
    assert "some files are larger than a disk" in warning
    assert columns.split("  ")[0] == "policy"
    assert [line.split()[1:3] for line in lines] == [
        ["1", "B"],
        ["500", "B"],
        ["4", "kB"],
        ["20", "kB"],
        ["1", "MB"],
    ]
    options = ("1kB..8kB", "--steps", "2", "--policies", "belady, lru", "--json")
    asked = [json.loads(line) for line in tapewise(*command[:-1], *options).stdout.splitlines()]
    assert [(row["policy"], row["capacity_bytes"]) for row in asked] == [
        ("belady", 1000),
        ("belady", 8000),
        ("lru", 1000),
        ("lru", 8000),
    ]
    assert asked[1]["miss_count"] < asked[3]["miss_count"]
    # Locks that lock nothing change nothing, and lru's own misses are shown beside those with locks.
    options = ("--high-ratio", "1", "--low-ratio", "1", "--keep-s", "0", "--unstored-s", "0", "--json")
    free, plain = (
        [json.loads(line) for line in tapewise(*words, "--policies", "lru,age").stdout.splitlines()]
        for words in ((*locked, *options), (*command, "--json"))
    )
    unknown = {"plain_miss_count": None, "plain_miss_bytes": None}
    assert [{**row, "crowded_count": 0, **unknown} for row in plain] == [{**row, **unknown} for row in free]
    assert [row["plain_miss_count"] for row in free] == [row["miss_count"] for row in plain[:5]] + [None] * 5
    asked = [json.loads(line) for line in tapewise(*locked, "--json").stdout.splitlines()]
    assert [row["plain_miss_count"] for row in asked] == [row["miss_count"] for row in plain[:5]]
    assert [row["plain_miss_bytes"] for row in asked] == [row["miss_bytes"] for row in plain[:5]]
    for row, size in zip(asked, SIZES, strict=True):
        misses, crowded = replay_locked(transfers, size)
        assert (row["miss_count"], row["crowded_count"]) == (misses, crowded)
    heading, locks, warning, _, columns, *lines = tapewise(*locked).stdout.splitlines()
    most = max(row["crowded_count"] for row in asked)
    assert f"WARNING: up to {most:,} puts and gets found no room" in warning
    assert (
        "begins at 80% and ends at 70%; files stay 3600 s after each use, and 5400 s after their put" in locks
    )
    assert [re.split("  +", text)[-2:] for text in (columns,)] == [["no room", "without locks"]]
    of_machine = tapewise(*locked, "--machine", "llnl-unitree-1998", "--keep-s", "60").stdout.splitlines()
    assert "stay 60 s after each use, and 5400 s after" in of_machine[1]
    assert {line.split()[0] for line in of_machine[5:]} == {"size_age"}


def test_queues_are_replayed_without_locks(tapewise, tmp_path: Path) -> None:
    """SIEVE misses what a plain replay of the log's own lines misses; nobody knows more with locks."""
    pytest.importorskip("libcachesim", reason="`make peers` installs it")
    transfers = make_log(tmp_path)
    named = ("--archive", "queued", "--kind", "synthetic", "--timezone", "UTC")
    assert tapewise("ingest", *named, "--format", "xferlog", "xferlog").returncode == 0
    names: dict[str, int] = {}
    uses = []
    for at, direction, path, size in transfers:
        names[path] = names.get(path, 0) + (direction == "put")
        uses.append(((path, names[path]), size, direction == "get" and at >= MIDDLE))
    command = (
        "simulate",
        "cache",
        "--archive",
        "queued",
        "--sizes",
        "4kB,20kB",
        "--since",
        MIDDLE.isoformat(),
    )
    options = ("--policies", "sieve,arc,s3fifo,lru", "--json")
    plain, locked = (
        [json.loads(line) for line in tapewise(*command, *options, *more).stdout.splitlines()]
        for more in (("--empty-start",), ())
    )
    assert [row["policy"] for row in plain[::2]] == ["sieve", "arc", "s3fifo", "lru"]
    for row, size in zip(plain[:2], (4000, 20_000), strict=True):
        misses = replay_sieve([each[:2] for each in uses], size)
        missed = [each[1] for each, is_miss in zip(uses, misses, strict=True) if is_miss and each[2]]
        assert (row["miss_count"], row["miss_bytes"]) == (len(missed), sum(missed))
    assert [row["too_large_count"] > 0 for row in plain] == [
        True,
        False,
        True,
        False,
        True,
        True,
        True,
        False,
    ]
    for one, other in zip(plain, locked, strict=True):
        assert (other["plain_miss_count"], other["plain_miss_bytes"]) == (
            one["miss_count"],
            one["miss_bytes"],
        )
        is_known = one["policy"] == "lru"
        assert all((other[name] is not None) == is_known for name in ("miss_count", "miss_bytes"))
    for more, message in (
        (("--waits", "--machine", "sdsc-hpss-1998"), "--waits runs a machine, which drops files by a weight"),
        (("--keep", "any"), "either all or none of the kept curves have locks, and sieve has none"),
    ):
        refused = tapewise(*command[:6], *options, *more)
        assert (refused.returncode, message in " ".join(refused.stderr.split())) == (2, True)
    machine = tapewise("simulate", "machine", "sdsc-hpss-1998").stdout
    (tmp_path / "m.toml").write_text(machine.replace('"size_age"', '"sieve"'))
    refused = tapewise("simulate", "check-machine", "m.toml")
    assert (refused.returncode, "purge.rank: sieve keeps files in queues" in refused.stderr) == (1, True)


def test_queues_need_an_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It is missed before anything is opened or replayed."""
    monkeypatch.delitem(sys.modules, "tapewise.simulator.queue_caches", raising=False)
    monkeypatch.setitem(sys.modules, "libcachesim", None)
    with pytest.raises(SystemExit) as ended:
        main(["simulate", "cache", "--archive", "none", "--sizes", "1TB", "--policies", "lru,sieve"])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "needs the Python package libcachesim" in said and "pip install '.[libcachesim]'" in said


def test_curves_are_kept_with_a_study_of_the_same_archive(tapewise, home: Path, tmp_path: Path) -> None:
    """They are what the command prints, and the next ones replace them. They end with their study."""
    make_log(tmp_path)
    named = ("--archive", "curves", "--kind", "synthetic", "--timezone", "UTC")
    assert tapewise("ingest", *named, "--format", "xferlog", "xferlog").returncode == 0
    with (
        open_ready_warehouse(Settings(home=home)) as warehouse,
        warehouse.connect(Role.OWNER, autocommit=True) as owner,
    ):
        owner.execute(
            "INSERT INTO studies.simulation_studies (name, digest, demand, demand_name, demand_archive,"
            " demand_kind, options, machine_title, machine, program_version, created_at) VALUES"
            " ('larger disk', '0', 'archive', 'curves', 'curves', 'synthetic', '{}', 'a machine',"
            """ '{"disk": {"capacity_bytes": 5000}}', '0', now())"""
        )

        def read() -> list[tuple[Any, ...]]:
            return owner.execute(
                "SELECT policy, capacity_bytes, get_count, miss_count, miss_bytes, first_count,"
                " crowded_count, plain_miss_count, is_as_in_file, is_made_up, options, too_large_count,"
                " left_out_get_count FROM mart.cache_curves"
            ).fetchall()

        command = ("simulate", "cache", "--archive", "curves", "--keep", "larger disk", "--json")
        marks = {"high_ratio": 0.8, "low_ratio": 0.7, "keep_s": 60, "unstored_s": 5400}
        for options, kept_options in (
            (("--sizes", "1kB,20kB,1kB", "--policies", "lru,fifo", "--keep-s", "60"), marks),
            (
                ("--sizes", "5kB", "--empty-start", "--since", "2000-01-01T00:20:00Z"),
                {"empty_start": True, "since": "2000-01-01T00:20:00+00:00"},
            ),
        ):
            printed = [json.loads(line) for line in tapewise(*command, *options).stdout.splitlines()]
            sizes = [1000, 5000, 20_000] if "fifo" in str(options) else [5000]
            assert sorted({row["capacity_bytes"] for row in printed}) == sizes
            counts = [tuple((row | {"crowded_count": row.get("crowded_count")}).values()) for row in printed]
            assert sorted(row[:6] for row in read()) == sorted(each[:6] for each in counts)
            assert {row[1] for row in read() if row[8]} == {5000}
            assert all(row[9:11] == (True, kept_options) for row in read())
            # No machine has run, so nobody knows what it would leave out.
            assert {(*row[:2], *row[11:]) for row in read()} == {
                (row["policy"], row["capacity_bytes"], row["too_large_count"], None) for row in printed
            }
            assert any(row[11] for row in read()) == ("fifo" in str(options))
            assert {row[7] is None for row in read()} == {
                row.get("plain_miss_count") is None for row in printed
            }
        other = tapewise(*command[:2], "--archive", "cached", *command[4:], "--sizes", "5kB")
        assert "are not those of archive 'cached'" in other.stderr and other.returncode == 1
        unknown = tapewise(*command[:4], "--keep", "nothing", "--sizes", "5kB")
        assert "no study is called 'nothing'" in unknown.stderr and unknown.returncode == 1
        assert len(read()) == 1
        assert tapewise("simulate", "studies", "--drop", "larger disk").returncode == 0
        assert read() == []


def load_pooled_log(tapewise, folder: Path) -> list[tuple[datetime, str, str, int]]:
    """Load a log of files with three classes of service; file /data/N is put in class N % 3."""
    dice = random.Random(3)
    lines, transfers, sizes = [], [], {}
    for second in range(400):
        at = BEGINNING + timedelta(days=365 * 19, seconds=10 * second)
        path = f"/data/{min(int(dice.expovariate(0.05)), 60)}"
        direction = "put" if path not in sizes else "get"
        size = sizes.setdefault(path, dice.randrange(1, 5000))
        # A file is in the pool of its first use; the classes of later ones mean nothing.
        cos = int(path.rpartition("/")[2]) % 3 if direction == "put" else dice.randrange(3)
        way, ends = ("LH", f"/tmp/x\t{path}") if direction == "put" else ("HL", f"/tmp/x\t{path}")
        lines.append(
            f"{at:%a %b %d %H:%M:%S %Y} dtn1.example.gov hsi 6004 12059\t{way}\t0\t0.5\t{size}"
            f"\t{size / 500:.1f}\t{cos}\t{ends}\t6004\n"
        )
        transfers.append((at, direction, path, size))
    (folder / "hsi.log").write_text("".join(lines))
    named = ("--archive", "pooled", "--kind", "synthetic", "--timezone", "UTC")
    loaded = tapewise("ingest", *named, "--format", "hsi", "hsi.log")
    assert (loaded.returncode, loaded.stderr) == (0, "")
    return transfers


def test_a_pool_misses_what_a_replay_of_its_own_files_misses(tapewise, tmp_path: Path) -> None:
    transfers = load_pooled_log(tapewise, tmp_path)
    machine = tapewise("simulate", "machine", "sdsc-hpss-1998").stdout
    pools = '[disk.pools.low]\nclasses_of_service = ["0", "1"]\ncapacity_bytes = 20000\nrank = "fifo"\n'
    (tmp_path / "m.toml").write_text(machine + pools + "[disk.pools.others]\n")
    command = ("simulate", "cache", "--archive", "pooled", "--machine", "m.toml", "--sizes", "4kB,20kB")
    last = BEGINNING + timedelta(days=365 * 21)
    own = {
        name: [each for each in transfers if (int(each[2].rpartition("/")[2]) % 3 in classes)]
        for name, classes in {"low": (0, 1), "others": (2,)}.items()
    }
    options = ("--empty-start", "--policies", "lru", "--json", "--pool")
    for name, other in (("low", "others"), ("others", "low")):
        asked = tapewise(*command, *options, name)
        assert (asked.returncode, asked.stderr) == (0, "")
        *rows, kept = [json.loads(line) for line in asked.stdout.splitlines()]
        assert [tuple(row.values()) for row in rows] == [
            (name, "lru", size, *replay(own[name], size, BEGINNING, last)) for size in (4000, 20_000)
        ]
        assert (kept["pool"], kept["policy"]) == (other, "fifo" if other == "low" else "size_age")
        assert kept["get_count"] == sum(way == "get" for _, way, _, _ in own[other])
        assert kept["capacity_bytes"] == 20_000 or other == "others"
    shown = tapewise(*command, "--pool", "low").stdout.splitlines()
    assert shown[0] == "Pool low; the other pools have the size and the rules of the machine file."
    assert [line.split()[:2] for line in shown[-3:]] == [["low", "fifo"]] * 2 + [["others", "size_age"]]
    for words, status, message in (
        (command, 1, "--pool NAME varies the size of one of them"),
        ((*command, "--pool", "none"), 1, "has no pool none"),
        ((*command[:4], *command[6:], "--pool", "low"), 2, "--pool needs --machine"),
        ((*command, "--pool", "low", "--keep", "any"), 1, "no study is called 'any'"),
    ):
        refused = tapewise(*words)
        assert (refused.returncode, message in refused.stderr) == (status, True)


def test_curves_of_pools_are_kept_by_pool(tapewise, home: Path, tmp_path: Path) -> None:
    """Each pool's curves replace its own, and those of another time or without locks."""
    load_pooled_log(tapewise, tmp_path)
    machine = tapewise("simulate", "machine", "sdsc-hpss-1998").stdout
    for name, value in (("lv_bytes", 40_000), ("largest_file_bytes", 5000)):
        machine = re.sub(f"(?m)^{name} = .*", f"{name} = {value}", machine)
    pools = '[disk.pools.low]\nclasses_of_service = ["0"]\ncapacity_bytes = 100000\nrank = "fifo"\n'
    pools += "[disk.pools.others]\nage_exponent = 1.0\n"
    (tmp_path / "m.toml").write_text(machine + pools)
    (tmp_path / "wider.toml").write_text(machine + pools.replace("100000", "150000"))
    (tmp_path / "other.toml").write_text(machine + pools.replace('["0"]', '["1"]'))
    study = ("simulate", "study", "--machine", "m.toml", "--trace", "pooled", "--measured-on", "m.toml")
    made = tapewise(*study, "--name", "divided", "--seeds", "1", "users.limit_count=1")
    assert made.returncode == 0, made.stderr
    command = ("simulate", "cache", "--archive", "pooled", "--keep", "divided", "--json")

    with (
        open_ready_warehouse(Settings(home=home)) as warehouse,
        warehouse.connect(Role.READER, autocommit=True) as reader,
    ):

        def keep(*options: str) -> list[tuple[Any, ...]]:
            printed = tapewise(*command, *options)
            assert printed.returncode == 0, printed.stderr
            rows = [json.loads(line) for line in printed.stdout.splitlines()]
            names = ("pool", "policy", "capacity_bytes", "get_count", "miss_count", "miss_bytes")
            found = {tuple(row.get(name) for name in names) for row in rows}
            # The row of the other pool as in the machine file is a point, and not kept.
            return sorted(row for row in found if row[0] == (options[1] if "--pool" in options else None))

        def read(is_as_in_file: str = "TRUE") -> list[tuple[Any, ...]]:
            return reader.execute(
                "SELECT pool, policy, capacity_bytes, get_count, miss_count, miss_bytes"
                f" FROM mart.cache_curves WHERE {is_as_in_file} ORDER BY 1, 2, 3".encode()
            ).fetchall()

        of_pool = ("--machine", "m.toml", "--sizes", "4kB")
        low = keep("--pool", "low", *of_pool, "--policies", "lru,fifo")
        assert [row[1:3] for row in low] == [
            *(("fifo", 4000), ("fifo", 100_000)),
            *(("lru", 4000), ("lru", 100_000)),
        ]
        assert read() == low
        others = keep("--pool", "others", *of_pool, "--high-ratio", "0.9")
        own = "ceil(size / MB) ** 1 * ceil(age / hour) ** 1"
        assert [row[1:3] for row in others] == [(own, 4000), (own, 180_000)]
        assert read() == [*low, *others]
        assert [row[:3] for row in read("is_as_in_file AND is_policy_as_in_file")] == [
            *(("low", "fifo", 100_000), ("others", own, 180_000)),
        ]
        # Another curve of the pool, and one of all files on one disk.
        low = keep("--pool", "low", *of_pool, "--policies", "gdsf")
        whole = keep("--sizes", "4kB")
        assert [row[1:3] for row in whole] == [("lru", 4000), ("lru", 280_000)]
        assert read() == [*low, *others, *whole]
        for name in ("wider.toml", "other.toml"):
            refused = tapewise(*command, "--pool", "low", "--machine", name, "--sizes", "4kB")
            assert (refused.returncode, "is not divided as that of study" in refused.stderr) == (1, True)
        # Gets of another time, and files that nothing locks, are not compared with these.
        early = keep("--pool", "low", *of_pool, "--until", "2019-01-01")
        assert read() == early
        others = keep("--pool", "others", *of_pool, "--until", "2019-01-01")
        assert read() == [*early, *others]
        free = keep("--pool", "others", *of_pool, "--until", "2019-01-01", "--empty-start")
        assert read() == free
    assert tapewise("simulate", "studies", "--drop", "divided").returncode == 0


def replay_locked(transfers: list[tuple[datetime, str, str, int]], capacity: int) -> tuple[int, int]:
    """Return the misses of an LRU disk with the default locks, and how many transfers find no room.

    The whole log is shorter than the time that puts must stay, so a file is dropped only an hour after its
    last use, if it came from tape.
    """
    names: dict[str, int] = {}
    used: OrderedDict[tuple[str, int], tuple[int, datetime]] = OrderedDict()
    puts: set[tuple[str, int]] = set()
    misses = crowded = 0
    is_short, hour = False, timedelta(hours=1)

    def purge(now: datetime, target: float) -> bool:
        for file, (_, last) in list(used.items()):
            if sum(size for size, _ in used.values()) <= target:
                break
            if file not in puts and last + hour <= now:
                del used[file]
        return sum(size for size, _ in used.values()) > target

    for at, direction, path, size in transfers:
        while is_short:
            ends = [last + hour for file, (_, last) in used.items() if file not in puts]
            if not ends or min(ends) > at:
                break
            is_full = sum(size for size, _ in used.values()) >= 0.8 * capacity
            is_short = purge(min(ends), 0.7 * capacity) if is_full else False
        if direction == "put":
            names[path] = names.get(path, 0) + 1
        file = (path, names.get(path, 0))
        misses += direction == "get" and file not in used
        if size > capacity:
            continue
        if direction == "put":
            puts.add(file)
        is_new = file not in used
        if is_new and sum(size for size, _ in used.values()) + size > capacity:
            is_short = purge(at, min(0.7 * capacity, capacity - size))
            crowded += sum(size for size, _ in used.values()) + size > capacity
        used[file] = (size, at)
        used.move_to_end(file)
        if is_new and sum(size for size, _ in used.values()) >= 0.8 * capacity and not is_short:
            is_short = purge(at, 0.7 * capacity)
    return misses, crowded


def test_what_cannot_be_answered(tapewise, tmp_path: Path) -> None:
    (tmp_path / "nft.log").write_text("005041 97/10/01 00:01:41 sj 7700 0.425\n")
    named = ("--archive", "pathless", "--kind", "synthetic", "--timezone", "UTC")
    assert tapewise("ingest", *named, "--format", "nft", "nft.log").returncode == 0
    command = ("simulate", "cache", "--sizes", "1TB", "--archive")
    unknown = tapewise(*command, "pathless")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "the logs of archive 'pathless' do not say which files its 1 get reads" in unknown.stderr
    empty = tapewise(*command, "pathless", "--since", "1998-01-01")
    assert (empty.returncode, "has no gets in that time" in empty.stderr) == (1, True)
    missing = tapewise(*command, "missing")
    assert (missing.returncode, "no archive is called 'missing'" in missing.stderr) == (1, True)


@pytest.mark.parametrize(
    "options",
    [
        ("--sizes", "2TB..1TB"),
        ("--sizes", "1TB", "--policies", "mru"),
        ("--sizes", "1TB", "--policies", "lru,lru"),
        ("--sizes", "1TB", "--policies", "lru,1/age"),
        ("--sizes", "1TB", "--keep-s", "nan"),
        ("--sizes", "1TB", "--low-ratio", "0.9"),
        ("--sizes", "1TB", "--low-ratio", "0.5", "--empty-start"),
        ("--sizes", "1TB", "--machine", "llnl-unitree-1998", "--empty-start"),
        (),
    ],
)
def test_wrong_usage(tapewise, options: tuple[str, ...]) -> None:
    assert tapewise("simulate", "cache", "--archive", "any", *options).returncode == 2
