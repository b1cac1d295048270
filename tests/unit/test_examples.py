"""The example logs are what their generator writes, and `truth.json` describes them correctly.

Lines are counted here by plain splitting and searching, as grep would do it. Our readers are tested against
`truth.json`, so its numbers must not depend on them.
"""

import csv
import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from datetime import datetime, time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "examples" / "logs"
COMMITTED_LIMIT_BYTES = 1_620_000
UNITREE_LIMIT_BYTES = 400_000
NAMES = ("nft.log", "pftp.log.gz", "hsi.log")
COND_NAMES = tuple(f"cond.9810{day}.gz" for day in range(18, 32))
UNITREE_NAMES = (*COND_NAMES, "stat.log.gz")
PACKED_NAMES = ("pftp.log.gz", *UNITREE_NAMES)
REPEATED_HOUR = {"nft.log": b" 98/10/25 01:", "pftp.log.gz": b"Sun Oct 25 01:", "hsi.log": b"Sun Oct 25 01:"}

NFT_LINE = re.compile(rb"\d{6} 98/1[0-2]/\d\d ([01]\d|2[0-3]):\d\d:\d\d [a-z]{2} \d+ \d+\.\d{3}")
CTIME = rb"[A-Z][a-z]{2} Oct (1[89]|2\d|3[01]) ([01]\d|2[0-3]):\d\d:\d\d 1998 "
PFTP_LINE = re.compile(CTIME + rb"\d+\.\d{3} \S+ \d+ /.* b [io] (\w+)_Cmd r ftp \w+( fd 0)?")
OPEN_LINE = re.compile(CTIME + rb"\S+ /.* b POPN_Cmd r r ftp \w+ fd 0")
HSI_LINE = re.compile(CTIME + rb"\S+ hsi \d+ \d+\t(LH|HL|HH|FU|FR)\t(0|-1)\t\d+\.\d\d\t\d+\t\d+\.\d\t.*")
HTAR_LINE = re.compile(CTIME + rb"\S+ htar \d+ \d+\t(create|extract)\t(LH|HL)\t(0|-1)\t\d+\t\d+\.\d\d\t.*")

# COND's lines have only times of day; the date is in the name of the file.
CLOCK = rb"(?:[01]\d|2[0-3]):\d\d:\d\d"
COND_COLUMNS = re.compile(rb"(\d{6}) (%b) (%b) (\d{4} |\d{5})(\d{3}) ([ \d]{6}) (\w+) .+" % (CLOCK, CLOCK))
COND_BLANKS = re.compile(rb"(\d{6}) (%b) (%b) (\d{4,5}) (\d{3}) (\d+) (\w+) .+" % (CLOCK, CLOCK))
STAT_LINE = re.compile(
    rb"(98/10/\d\d %b\.\d{3}) (\d{4} |\d{5}) File (?:(transfer|failure) \((\w)-(\w)\) (\d+) bytes in"
    rb" (\d+\.\d{3})|staged in (\d+)) seconds( -\d+ \(Ftp \d+\))?" % CLOCK
)


def read(path: Path) -> bytes:
    """Return the content of a log, decompressed if necessary."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def lines_of(name: str) -> list[bytes]:
    return read(LOGS / name).split(b"\n")[:-1]


def good_lines(name: str) -> list[bytes]:
    """Return the lines of a log that have the right shape and a possible time."""
    shapes = {
        "nft.log": (NFT_LINE,),
        "pftp.log.gz": (PFTP_LINE, OPEN_LINE),
        "hsi.log": (HSI_LINE, HTAR_LINE),
    }[name]
    return [
        line
        for line in lines_of(name)
        if b" 98/13/" not in line and any(shape.fullmatch(line) for shape in shapes)
    ]


def cond_jobs(name: str) -> list[tuple[bytes, ...]]:
    """Return the user, start, end, persona, session, number and verb of each job of a day."""
    matches = [COND_COLUMNS.fullmatch(line) or COND_BLANKS.fullmatch(line) for line in lines_of(name)]
    return [tuple(field.strip() for field in match.groups()) for match in matches if match]


def stat_matches() -> list[re.Match[bytes]]:
    return [match for match in map(STAT_LINE.fullmatch, lines_of("stat.log.gz")) if match]


def stat_moves() -> list[re.Match[bytes]]:
    """Return STAT's transfers between the archive and a client, including those that failed."""
    return [match for match in stat_matches() if match[3] and match[4] != match[5]]


def nft_transfers() -> list[list[str]]:
    """Return the fields of NFT's lines for transfers between the archive and a client."""
    fields = [line.decode().split() for line in good_lines("nft.log")]
    return [f for f in fields if (f[3][0] == "s") != (f[3][1] == "s")]


def pftp_transfers() -> list[tuple[str, str, str, int]]:
    """Return the day, direction, duration and size of each of PFTP's transfers."""
    found = [line.decode().split(" ") for line in good_lines("pftp.log.gz") if b" b POPN_Cmd " not in line]
    return [(f"1998-10-{f[2]}", "put" if " i " in " ".join(f[8:]) else "get", f[5], int(f[7])) for f in found]


def hsi_fields(interface: bytes) -> list[list[bytes]]:
    """Return the fields of HSI's or HTAR's lines; the first field holds the stamp."""
    found = [line.split(b"\t") for line in good_lines("hsi.log")]
    return [fields for fields in found if fields[0].split()[6] == interface]


def hsi_transfers() -> list[tuple[str, str, str, bool, int]]:
    """Return the day, interface, direction, failure flag and size of each transfer in HSI's log."""
    found = []
    for interface, operation, code, size in ((b"hsi", 1, 2, 4), (b"htar", 2, 3, 4)):
        for fields in hsi_fields(interface):
            if fields[operation] in (b"LH", b"HL"):
                day = f"1998-10-{fields[0].split()[2].decode()}"
                direction = "put" if fields[operation] == b"LH" else "get"
                is_failed = fields[code] != b"0"
                found.append((day, interface.decode(), direction, is_failed, int(fields[size])))
    return found


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((LOGS / "truth.json").read_bytes())
    return facts


@pytest.fixture(scope="module")
def regenerated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate the logs again and return their folder."""
    folder = tmp_path_factory.mktemp("regenerated")
    command = [
        sys.executable,
        "-m",
        "tapewise.examples.generate",
        "--seed",
        "1998",
        "--into",
        str(folder),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.mark.study("examples")
@pytest.mark.parametrize("name", ["nft.log", "hsi.log", "truth.json"])
def test_regenerated_files_have_the_committed_bytes(regenerated: Path, name: str) -> None:
    assert (regenerated / name).read_bytes() == (LOGS / name).read_bytes()


@pytest.mark.parametrize("name", PACKED_NAMES)
def test_the_regenerated_compressed_log_has_the_committed_content(regenerated: Path, name: str) -> None:
    # The compressed bytes may differ if Python was built with another zlib.
    again, committed = regenerated / name, LOGS / name
    assert read(again) == read(committed)
    # The header has the magic number, deflate, no flags (so no file name), and time 0.
    assert again.read_bytes()[:8] == committed.read_bytes()[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"


def test_no_other_files_are_generated(regenerated: Path) -> None:
    names = {*NAMES, *UNITREE_NAMES, "truth.json"}
    assert {path.name for path in regenerated.iterdir()} == {path.name for path in LOGS.iterdir()} == names


@pytest.mark.study("examples")
def test_another_seed_gives_other_lines(regenerated: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tapewise.examples.generate", "--seed", "7", "--into", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    for name in (*NAMES, *UNITREE_NAMES):
        assert read(tmp_path / name) != read(regenerated / name)


@pytest.mark.study("examples")
def test_without_unitree_the_other_logs_are_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tapewise.examples.generate", "--seed", "1998", "--without-unitree"]
    subprocess.run([*command, "--into", str(tmp_path)], check=True, capture_output=True)
    assert {path.name for path in tmp_path.iterdir()} == {*NAMES, "truth.json"}
    assert all(read(tmp_path / name) == read(LOGS / name) for name in NAMES)


def test_the_folder_says_that_it_is_made_up_and_stays_small(truth: dict[str, Any]) -> None:
    assert "made up" in truth["statement"]
    assert truth["archive_kind"] == "synthetic"
    assert "made up" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert sum(path.stat().st_size for path in LOGS.iterdir()) < COMMITTED_LIMIT_BYTES
    assert sum((LOGS / name).stat().st_size for name in UNITREE_NAMES) < UNITREE_LIMIT_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_every_line_has_a_fate(truth: dict[str, Any], name: str) -> None:
    facts = truth["files"][name]
    lines = lines_of(name)
    assert facts["line_count"] == read(LOGS / name).count(b"\n") == len(lines)
    fates = facts["loaded_count"] + sum(facts["ignored"].values()) + sum(facts["rejected"].values())
    assert fates == facts["line_count"]
    loaded = facts["loaded"]
    transfers = sum(sum(outcome.values()) for outcome in loaded["transfers"].values())
    assert transfers == sum(facts["transfers_by_interface"].values())
    assert facts["loaded_count"] == transfers + loaded["opens"] + sum(loaded["namespace_events"].values())
    assert facts["ignored"]["blank line"] == lines.count(b"")
    # A line that is neither well formed nor blank was broken deliberately.
    assert len(lines) - len(good_lines(name)) - lines.count(b"") == sum(facts["rejected"].values())
    passed_over = facts["ignored"].get("no archive involved", 0)
    assert len(good_lines(name)) == facts["loaded_count"] + passed_over


@pytest.mark.parametrize("name", NAMES)
def test_damaged_lines_are_counted_correctly(truth: dict[str, Any], name: str) -> None:
    rejected = Counter(truth["files"][name]["rejected"])
    content = read(LOGS / name)
    separator = b" " if name != "hsi.log" else b"\t"
    assert content.count(b"daemon restarted") == rejected["garbage text"]
    assert content.count(b"\xff\xfe\x80") == rejected["not UTF-8"]
    assert content.count(b" 98/13/") == rejected["impossible month"]
    assert content.count(b" 25:") == rejected["impossible hour"]
    assert content.count(b" Oct 32 ") == rejected["impossible day"]
    assert len(re.findall(rb":\d\d 2060 ", content)) == rejected["far future"]
    assert content.count(separator + b"n/a" + separator) == rejected["size no number"]
    # In HSI's log, -1 is a return code.
    assert len(re.findall(separator + rb"-(?!1\t)\d+" + separator, content)) == rejected["negative size"]


def test_nft_lines(truth: dict[str, Any]) -> None:
    facts = truth["files"]["nft.log"]
    sides = Counter(line.split()[3] for line in good_lines("nft.log"))
    puts = sum(count for pair, count in sides.items() if pair[:1] != b"s" and pair[1:] == b"s")
    gets = sum(count for pair, count in sides.items() if pair[:1] == b"s" and pair[1:] != b"s")
    assert facts["loaded"]["transfers"] == {
        "put": {"succeeded": puts, "failed": 0},
        "get": {"succeeded": gets, "failed": 0},
    }
    assert facts["loaded"]["namespace_events"]["copy"] == sides[b"ss"]
    assert facts["ignored"]["no archive involved"] == sum(sides.values()) - puts - gets - sides[b"ss"]
    transfers = nft_transfers()
    assert facts["flagged"]["time_written_0.499"] == sum(f[5] == "0.499" for f in transfers)
    assert facts["distinct"]["hosts_of_transfers"] == len({f[3].strip("s") for f in transfers})
    sizes_bytes = [int(f[4]) for f in transfers]
    assert facts["sizes_of_succeeded"] == {
        "zero_bytes": sizes_bytes.count(0),
        "over_2_to_31": sum(size > 2**31 for size in sizes_bytes),
        "over_2_to_32": sum(size > 2**32 for size in sizes_bytes),
        "largest_bytes": max(sizes_bytes),
    }


def test_pftp_lines(truth: dict[str, Any]) -> None:
    facts = truth["files"]["pftp.log.gz"]
    lines = good_lines("pftp.log.gz")
    commands = Counter(
        match.group(1) for line in lines for match in [re.search(rb"(\w+)_Cmd", line)] if match
    )
    assert facts["loaded"]["opens"] == commands[b"POPN"]
    outcomes = facts["loaded"]["transfers"]
    assert outcomes["put"]["succeeded"] == commands[b"STOR"] + commands[b"PSTO"] + commands[b"LFSTO"]
    assert outcomes["get"]["succeeded"] == commands[b"RETR"] + commands[b"PRTR"] + commands[b"LFRTR"]
    saturated = [line for line in lines if b" 2147483647 /" in line]
    assert facts["flagged"]["saturated_size"] == len(saturated) > 0
    # A search from the left would fail, as some paths contain what looks like the fields after the path.
    paths = [re.findall(rb" (/.*) b (?:[io] \w+|POPN)_Cmd ", line)[0] for line in lines]
    blank_paths = [path for path in paths if b" " in path]
    assert facts["names"]["lines_with_blank_in_archive_path"] == len(blank_paths) > 0


def test_hsi_lines(truth: dict[str, Any]) -> None:
    facts = truth["files"]["hsi.log"]
    outcomes = Counter((direction, is_failed) for _, _, direction, is_failed, _ in hsi_transfers())
    assert facts["loaded"]["transfers"] == {
        direction: {"succeeded": outcomes[direction, False], "failed": outcomes[direction, True]}
        for direction in ("put", "get")
    }
    operations = Counter(fields[1] for fields in hsi_fields(b"hsi"))
    assert facts["loaded"]["namespace_events"] == {
        "copy": operations[b"HH"],
        "delete": operations[b"FU"],
        "rename": operations[b"FR"],
    }
    assert facts["transfers_by_interface"]["htar"] == len(hsi_fields(b"htar"))
    open_s = [float(f[3]) for f in hsi_fields(b"hsi") if f[1] == b"HL" and f[2] == b"0"]
    bands = Counter(sum(seconds >= end_s for end_s in (7, 60, 130)) for seconds in open_s)
    assert list(facts["hsi_gets"]["by_open_time"].values()) == [bands[k] for k in range(4)]
    assert sum(facts["hsi_gets"]["by_origin"].values()) == len(open_s)
    assert facts["hsi_gets"]["by_origin"]["disk"] == bands[0]
    good = good_lines("hsi.log")
    assert facts["names"]["lines_with_stdin_or_stdout"] == sum(b"\t<std" in line for line in good)
    not_ascii = [line for line in good if not line.isascii()]
    assert facts["names"]["lines_not_utf8_but_loaded"] == len(not_ascii) > 0


@pytest.mark.parametrize("name", NAMES)
def test_repeated_lines_and_the_repeated_hour(truth: dict[str, Any], name: str) -> None:
    facts = truth["files"][name]
    lines = good_lines(name)
    if name == "nft.log":
        lines = [line for line in lines if b"s" in line.split()[3]]
    assert len(lines) == facts["loaded_count"]
    groups = [count for count in Counter(lines).values() if count > 1]
    assert sum(repeats["group_count"] for repeats in facts["repeats"].values()) == len(groups)
    assert sum(repeats["line_count"] for repeats in facts["repeats"].values()) == sum(groups)
    ambiguous = facts["flagged"]["ambiguous_local_time"]
    counted = sum(REPEATED_HOUR[name] in line for line in lines)
    assert counted == ambiguous["written_before_the_change"] + ambiguous["written_after_the_change"]
    assert ambiguous["written_before_the_change"] > 0
    assert ambiguous["written_after_the_change"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_stamps_are_in_order_and_avoid_maintenance(truth: dict[str, Any], name: str) -> None:
    stamps = []
    for line in good_lines(name):
        if name == "nft.log":
            day, clock = line.decode().split()[1:3]
            stamps.append(f"19{day.replace('/', '-')}T{clock}")
        else:
            fields = line.split()
            stamps.append(f"1998-10-{fields[2].decode()}T{fields[3].decode()}")
    steps_back = sum(later < earlier for earlier, later in pairwise(stamps))
    assert steps_back == truth["files"][name]["clock_steps_back_between_lines"]
    for begin, end in truth["maintenance_local"]:
        assert not [stamp for stamp in stamps if begin <= stamp < end]
    assert min(stamps) >= "1998-10-18T00:00:00"
    assert max(stamps) <= "1998-10-31T23:59:59"


def test_daily_sums(truth: dict[str, Any]) -> None:
    sizes_bytes: dict[tuple[str, str, str], list[int]] = {}
    for fields in nft_transfers():
        day = "19" + fields[1].replace("/", "-")
        direction = "get" if fields[3][0] == "s" else "put"
        sizes_bytes.setdefault((day, "nft", direction), []).append(int(fields[4]))
    for day, direction, _, size in pftp_transfers():
        sizes_bytes.setdefault((day, "pftp", direction), []).append(size)
    for day, interface, direction, is_failed, size in hsi_transfers():
        if not is_failed:
            sizes_bytes.setdefault((day, interface, direction), []).append(size)
    counted = [(*key, len(sizes), sum(sizes)) for key, sizes in sorted(sizes_bytes.items())]
    recorded = [
        (cell["day"], cell["interface"], cell["direction"], cell["count"], cell["size_bytes"])
        for cell in truth["daily"]
    ]
    assert counted == recorded


def test_no_transfer_is_below_its_envelope(truth: dict[str, Any]) -> None:
    observed = [
        # FTP rounds to whole seconds, so its time may be half a second too short.
        (
            "nft",
            "get" if f[3][0] == "s" else "put",
            int(f[4]),
            float(f[5]),
            0.5 if f[5][-3:] == "000" else 0.001,
        )
        for f in nft_transfers()
        if f[5] != "0.499"
    ]
    observed += [
        ("pftp", direction, size, float(seconds), 0.006) for _, direction, seconds, size in pftp_transfers()
    ]
    for fields in hsi_fields(b"htar"):
        if fields[3] == b"0":
            direction = "put" if fields[2] == b"LH" else "get"
            observed.append(("htar", direction, int(fields[4]), float(fields[5]), 0.006))
    for fields in hsi_fields(b"hsi"):
        if fields[1] in (b"LH", b"HL") and int(fields[4]) > 0:
            # The rate is rounded, so the true time may be as long as this.
            longest_s = int(fields[4]) / (float(fields[5]) - 0.051) / 1000
            if longest_s > 0:
                observed.append(
                    ("hsi", "put" if fields[1] == b"LH" else "get", int(fields[4]), longest_s, 0.0)
                )
    for interface, direction, size, seconds, rounding_s in observed:
        law = truth["laws"]["envelopes"][interface][direction]
        assert seconds + rounding_s >= law["latency_s"] + law["slope_s_per_byte"] * size


# UniTree's own logs


@pytest.mark.parametrize("name", UNITREE_NAMES)
def test_every_unitree_line_has_a_fate(truth: dict[str, Any], name: str) -> None:
    facts = truth["files"][name]
    lines = lines_of(name)
    assert facts["line_count"] == len(lines)
    assert facts["ignored"].get("blank line", 0) == lines.count(b"")
    loaded = facts["loaded"]
    outcomes = loaded.get("transfers", {}).values()
    copies = sum(loaded.get("namespace_events", {}).values())
    moved = sum(sum(outcome.values()) for outcome in outcomes)
    fact_count = loaded.get("unitree_jobs", 0) + loaded.get("stages", 0) + copies + moved
    assert facts["loaded_count"] == fact_count
    good = cond_jobs(name) if name in COND_NAMES else stat_matches()
    assert facts["loaded_count"] == len(good)
    assert len(lines) - len(good) - lines.count(b"") == sum(facts["rejected"].values())


def test_damaged_unitree_lines_are_counted_correctly(truth: dict[str, Any]) -> None:
    for names in (COND_NAMES, ("stat.log.gz",)):
        rejected: Counter[str] = Counter()
        for name in names:
            rejected.update(truth["files"][name]["rejected"])
        content = b"".join(read(LOGS / name) for name in names)
        assert content.count(b"daemon restarted") == rejected.pop("garbage text") > 0
        assert content.count(b"\xff\xfe\x80") == rejected.pop("not UTF-8") > 0
        assert content.count(b" 25:") == rejected.pop("impossible hour") > 0
        assert len(re.findall(rb"^98/13/", content, re.M)) == rejected.pop("impossible month", 0)
        assert len(re.findall(rb"^60/", content, re.M)) == rejected.pop("far future", 0)
        assert content.count(b" n/a bytes ") == rejected.pop("size no number", 0)
        assert len(re.findall(rb" -\d+ bytes ", content)) == rejected.pop("negative size", 0)
        assert len(re.findall(rb" staged in \d+$", content, re.M)) == rejected.pop("stage cut off", 0)
        cut = rb"^\d{6} \S{8} \S{6}$|\d  ?File \w?$"
        assert len(re.findall(cut, content, re.M)) == rejected.pop("truncated") > 0
        assert not rejected


def test_cond_lines(truth: dict[str, Any]) -> None:
    facts = truth["unitree"]["jobs"]
    jobs = {name: cond_jobs(name) for name in COND_NAMES}
    assert facts["count"] == sum(map(len, jobs.values()))
    verbs = Counter(job[6].decode() for found in jobs.values() for job in found)
    assert facts["by_operation"] == verbs
    assert facts["persona_of_five_digits"] == sum(len(job[3]) == 5 for f in jobs.values() for job in f)
    backward = {name: sum(job[1] > job[2] for job in found) for name, found in jobs.items()}
    assert backward == {name: truth["files"][name]["flagged"]["start_after_end"] for name in COND_NAMES}
    assert sum(facts["start_after_end"].values()) == sum(backward.values())
    assert all(facts["start_after_end"].values())
    # No job took longer than a day, so every job that ran past midnight seems to end before it starts.
    assert facts["start_after_end"]["over_midnight"] == facts["over_midnight"]
    for name, found in jobs.items():
        # Jobs are in the order of their ends, except in the hour that occurred twice.
        assert sum(later[2] < earlier[2] for earlier, later in pairwise(found)) == (name == "cond.981025.gz")
        is_change = name == "cond.981025.gz"
        hour = sum(is_change and b"01" in (job[1][:2], job[2][:2]) for job in found)
        assert truth["files"][name]["flagged"]["ambiguous_local_time"] == hour
    assert truth["files"]["cond.981025.gz"]["flagged"]["ambiguous_local_time"] > 40


def test_one_stretch_of_cond_is_separated_by_blanks(truth: dict[str, Any]) -> None:
    since, until = map(datetime.fromisoformat, truth["unitree"]["blank_separated_local"])
    is_abutting = False
    for name in COND_NAMES:
        for line in lines_of(name):
            in_columns, in_blanks = COND_COLUMNS.fullmatch(line), COND_BLANKS.fullmatch(line)
            match = in_columns or in_blanks
            if match:
                assert not (in_columns and in_blanks)
                day = datetime.strptime(name[5:11], "%y%m%d").date()
                ended = datetime.combine(day, time.fromisoformat(match[3].decode()))
                assert (since <= ended < until) == bool(in_blanks)
                # A persona of five digits leaves no blank before the session.
                is_abutting |= bool(in_columns) and line[29:30] != b" "
    assert is_abutting


def test_personas_repeat_within_a_day(truth: dict[str, Any]) -> None:
    facts = truth["unitree"]["personas"]
    counts = [Counter(job[3] for job in cond_jobs(name)).values() for name in COND_NAMES]
    repeated = [count for of_day in counts for count in of_day if count > 1]
    assert facts["repeated_within_a_day"] == len(repeated) > 100
    assert facts["jobs_with_a_repeated_one"] == sum(repeated)
    assert facts["days_in_which_they_start_anew"] == len(COND_NAMES)


def test_stat_lines(truth: dict[str, Any]) -> None:
    facts = truth["files"]["stat.log.gz"]["loaded"]
    moves = Counter((match[5] == b"s", match[3] == b"failure") for match in stat_moves())
    assert facts["transfers"] == {
        "put": {"succeeded": moves[True, False], "failed": moves[True, True]},
        "get": {"succeeded": moves[False, False], "failed": moves[False, True]},
    }
    stages = [int(match[8]) for match in stat_matches() if match[8]]
    assert facts["stages"] == len(stages)
    copies = [match for match in stat_matches() if match[4] == match[5] == b"s"]
    assert facts["namespace_events"] == {"copy": len(copies)}
    # Only failed transfers have error codes.
    assert all((match[3] == b"failure") == bool(match[9]) for match in stat_matches())
    stamps = [match[1] for match in stat_matches()]
    assert sum(later < earlier for earlier, later in pairwise(stamps)) == 1
    ambiguous = truth["files"]["stat.log.gz"]["flagged"]["ambiguous_local_time"]
    assert sum(stamp.startswith(b"98/10/25 01:") for stamp in stamps) == ambiguous > 40


def test_stages_follow_their_law(truth: dict[str, Any]) -> None:
    facts = truth["unitree"]["stages"]
    stages = [int(match[8]) for match in stat_matches() if match[8]]
    assert facts["count"] == len(stages)
    assert facts["seconds"] == sum(stages)
    assert min(stages) >= 60
    assert facts["under_120_s"] == sum(seconds < 120 for seconds in stages)
    # A stage takes less than 120 s with probability 0.224. The limit is three standard deviations.
    assert abs(facts["under_120_s"] / facts["count"] - 0.224) < 3 * (0.224 * 0.776 / facts["count"]) ** 0.5


def test_stat_reports_the_transfers_in_nft_log_by_a_clock_slightly_ahead(
    truth: dict[str, Any],
) -> None:
    by_nft: dict[tuple[str, int], list[tuple[datetime, float]]] = {}
    for fields in nft_transfers():
        ended = datetime.strptime(" ".join(fields[1:3]), "%y/%m/%d %H:%M:%S")
        by_nft.setdefault((fields[3], int(fields[4])), []).append((ended, float(fields[5])))
    by_stat: dict[tuple[str, int], list[tuple[datetime, float]]] = {}
    for match in stat_moves():
        if match[3] == b"transfer":
            ended = datetime.strptime(match[1].decode(), "%y/%m/%d %H:%M:%S.%f")
            key = ((match[4] + match[5]).decode(), int(match[6]))
            by_stat.setdefault(key, []).append((ended, float(match[7])))
    # If a combination of size and machine occurs only once in each log, the match is certain.
    sure = [key for key, found in by_nft.items() if len(found) == 1 == len(by_stat.get(key, []))]
    assert len(sure) > 8000
    ahead_s = truth["unitree"]["server_clock_ahead_s"]
    longest_s: dict[str, float] = {}
    for sides, size in sure:
        ((nft_ended, nft_s),), ((stat_ended, stat_s),) = by_nft[sides, size], by_stat[sides, size]
        host = sides.strip("s")
        # NFT truncates its stamp to the second.
        difference_s = (stat_ended - nft_ended).total_seconds()
        assert ahead_s[host] - 0.001 <= difference_s < ahead_s[host] + 1
        longest_s[host] = max(difference_s, longest_s.get(host, 0.0))
        # NFT's duration includes the wait for a port, and is rounded for FTP transfers.
        assert stat_s <= nft_s + 0.5011
    assert all(0 <= ahead <= 1 for ahead in ahead_s.values())
    assert all(longest_s[host] > ahead_s[host] + 0.9 for host in ahead_s)


def test_hits_and_misses_add_up(truth: dict[str, Any]) -> None:
    facts = truth["unitree"]
    gets = facts["gets"]["by_origin"]
    assert facts["gets"]["hit_ratio"] == gets["disk"] / sum(gets.values())
    assert 0.6 < facts["gets"]["hit_ratio"] < 0.7
    in_nft = facts["gets"]["with_line_in_nft_log"]
    assert sum(in_nft.values()) == truth["files"]["nft.log"]["loaded"]["transfers"]["get"]["succeeded"]
    assert all(in_nft[origin] <= gets[origin] for origin in gets)
    # Every line of a put or get is in exactly one of the combinations that are counted here.
    lines: Counter[str] = Counter()
    for reported_by, count in facts["compositions"].items():
        for part in reported_by.split(", "):
            lines[part] += count
    outcomes = truth["files"]["nft.log"]["loaded"]["transfers"]
    assert lines["transfer"] == sum(outcome["succeeded"] for outcome in outcomes.values())
    stat = truth["files"]["stat.log.gz"]["loaded"]
    assert lines["twin"] == sum(outcome["succeeded"] for outcome in stat["transfers"].values())
    assert lines["stage"] == stat["stages"]
    verbs = Counter(job[6] for name in COND_NAMES for job in cond_jobs(name))
    assert lines["job"] == verbs[b"put"] + verbs[b"get"]
    # Gets from tape waited a minute or more for the tape, plus time in a queue.
    waits = facts["waits"]["of_gets_before_their_transfer"]
    assert waits["tape"]["mean_s"] > 120 > waits["disk"]["mean_s"]


@pytest.mark.study("examples")
def test_links_say_which_lines_belong_together(truth: dict[str, Any], tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "tapewise.examples.generate", "--seed", "1998",
        "--into", str(tmp_path / "logs"), "--links", str(tmp_path / "links.csv"),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    with (tmp_path / "links.csv").open(newline="") as file:
        links = list(csv.DictReader(file))
    assert len(links) == sum(truth["unitree"]["compositions"].values())
    gets = [link for link in links if link["operation"] == "get"]
    in_nft = [link for link in gets if link["nft_line"]]
    facts = truth["unitree"]["gets"]
    for origin in ("disk", "tape"):
        of_origin = [link for link in in_nft if link["origin"] == origin]
        assert facts["with_line_in_nft_log"][origin] == len(of_origin)
        without_stat = [link for link in of_origin if not link["stat_line"]]
        assert facts["of_these_without_transfer_in_stat"][origin] == len(without_stat)
        waits_s = [float(link["waited_s"]) for link in gets if link["origin"] == origin and link["waited_s"]]
        assert facts["by_origin"][origin] == len(waits_s)
        assert truth["unitree"]["waits"]["of_gets_before_their_transfer"][origin] == {
            "median_s": pytest.approx(median(waits_s), abs=0.001),
            "mean_s": pytest.approx(sum(waits_s) / len(waits_s), abs=0.001),
            "longest_s": max(waits_s),
        }
    unstaged = [
        link for link in in_nft if link["stat_line"] and link["origin"] == "tape" and not link["stage_line"]
    ]
    assert facts["of_these_with_transfer_but_without_stage_in_stat"] == {"tape": len(unstaged)}
    staged_for_nothing = [link for link in links if link["stage_line"] and not link["waited_s"]]
    assert truth["unitree"]["stages"]["of_jobs_without_transfer"] == len(staged_for_nothing)
    failed = [link for link in links if link["attempt_lines"]]
    assert truth["unitree"]["failures"] == {
        "failed_attempts": sum(len(link["attempt_lines"].split()) for link in failed),
        "jobs_that_succeeded_in_the_end": sum(bool(link["waited_s"]) for link in failed),
        "jobs_that_did_not": sum(not link["waited_s"] for link in failed),
        "jobs_staged_in_vain": sum(not link["attempt_lines"] for link in staged_for_nothing),
    }
    nft, stat = lines_of("nft.log"), lines_of("stat.log.gz")
    cond = {name: lines_of(name) for name in COND_NAMES}
    port_waits_s = []
    for link in links:
        fields = nft[int(link["nft_line"]) - 1].decode().split() if link["nft_line"] else None
        moved = STAT_LINE.fullmatch(stat[int(link["stat_line"]) - 1]) if link["stat_line"] else None
        staged = STAT_LINE.fullmatch(stat[int(link["stage_line"]) - 1]) if link["stage_line"] else None
        job = cond[link["cond_file"]][int(link["cond_line"]) - 1] if link["cond_line"] else None
        if fields and moved:
            assert (fields[3], fields[4]) == ((moved[4] + moved[5]).decode(), moved[6].decode())
            port_waits_s.append(float(fields[5]) - float(moved[7]))
        if fields and job:
            assert job.startswith(fields[0].encode())
        personas = {match[2].strip() for match in (moved, staged) if match}
        if job:
            match = COND_COLUMNS.fullmatch(job) or COND_BLANKS.fullmatch(job)
            assert match
            assert match[7].decode() == link["operation"]
            personas.add(match[4].strip())
        assert len(personas) <= 1
        assert not staged or link["origin"] == "tape"
    port_s = truth["unitree"]["waits"]["for_a_port_in_seconds_of_nft_but_not_of_stat"]["longest_s"]
    # The longest wait may be of an FTP transfer, whose duration is rounded to whole seconds.
    assert max(port_waits_s) == pytest.approx(port_s, abs=0.502)
