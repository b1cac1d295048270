"""The example logs are what their generator makes, and `truth.json` is true of them.

The lines are counted here with plain splitting and searching, as one would with grep, and not with
our readers: the readers are tested against `truth.json`, so it must not depend on them.
"""

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "examples" / "logs"
COMMITTED_LIMIT_BYTES = 1_600_000
NAMES = ("nft.log", "pftp.log.gz", "hsi.log")
REPEATED_HOUR = {"nft.log": b" 98/10/25 01:", "pftp.log.gz": b"Sun Oct 25 01:", "hsi.log": b"Sun Oct 25 01:"}

NFT_LINE = re.compile(rb"\d{6} 98/1[0-2]/\d\d ([01]\d|2[0-3]):\d\d:\d\d [a-z]{2} \d+ \d+\.\d{3}")
CTIME = rb"[A-Z][a-z]{2} Oct (1[89]|2\d|3[01]) ([01]\d|2[0-3]):\d\d:\d\d 1998 "
PFTP_LINE = re.compile(CTIME + rb"\d+\.\d{3} \S+ \d+ /.* b [io] (\w+)_Cmd r ftp \w+( fd 0)?")
OPEN_LINE = re.compile(CTIME + rb"\S+ /.* b POPN_Cmd r r ftp \w+ fd 0")
HSI_LINE = re.compile(CTIME + rb"\S+ hsi \d+ \d+\t(LH|HL|HH|FU|FR)\t(0|-1)\t\d+\.\d\d\t\d+\t\d+\.\d\t.*")
HTAR_LINE = re.compile(CTIME + rb"\S+ htar \d+ \d+\t(create|extract)\t(LH|HL)\t(0|-1)\t\d+\t\d+\.\d\d\t.*")


def read(path: Path) -> bytes:
    """The content of a log, unpacked if need be."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def lines_of(name: str) -> list[bytes]:
    return read(LOGS / name).split(b"\n")[:-1]


def good_lines(name: str) -> list[bytes]:
    """The lines of a log that have its shape and a possible time."""
    shapes = {
        "nft.log": (NFT_LINE,),
        "pftp.log.gz": (PFTP_LINE, OPEN_LINE),
        "hsi.log": (HSI_LINE, HTAR_LINE),
    }[name]
    found = [line for line in lines_of(name) if any(shape.fullmatch(line) for shape in shapes)]
    return [line for line in found if b" 98/13/" not in line]


def nft_transfers() -> list[list[str]]:
    """NFT's lines between the archive and a client, in fields."""
    fields = [line.decode().split() for line in good_lines("nft.log")]
    return [f for f in fields if (f[3][0] == "s") != (f[3][1] == "s")]


def pftp_transfers() -> list[tuple[str, str, str, int]]:
    """Day, direction, duration and size of PFTP's transfers."""
    found = [line.decode().split(" ") for line in good_lines("pftp.log.gz") if b" b POPN_Cmd " not in line]
    return [(f"1998-10-{f[2]}", "put" if " i " in " ".join(f[8:]) else "get", f[5], int(f[7])) for f in found]


def hsi_fields(interface: bytes) -> list[list[bytes]]:
    """HSI's or HTAR's lines, in fields; the first holds the stamp."""
    found = [line.split(b"\t") for line in good_lines("hsi.log")]
    return [fields for fields in found if fields[0].split()[6] == interface]


def hsi_transfers() -> list[tuple[str, str, str, bool, int]]:
    """Day, interface, direction, failure and size of the transfers in HSI's log."""
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
def remade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the logs made again."""
    folder = tmp_path_factory.mktemp("remade")
    command = [
        sys.executable,
        str(ROOT / "examples" / "generate.py"),
        "--seed",
        "1998",
        "--into",
        str(folder),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("name", ["nft.log", "hsi.log", "truth.json"])
def test_remade_files_have_the_committed_bytes(remade: Path, name: str) -> None:
    assert (remade / name).read_bytes() == (LOGS / name).read_bytes()


def test_remade_packed_log_has_the_committed_content(remade: Path) -> None:
    # The packed bytes may differ where Python was built with another zlib.
    again, committed = remade / "pftp.log.gz", LOGS / "pftp.log.gz"
    assert read(again) == read(committed)
    # Magic, deflate, no flags (so no name), time 0.
    assert again.read_bytes()[:8] == committed.read_bytes()[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"


def test_another_seed_gives_other_lines(remade: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "generate.py"), "--seed", "7", "--into", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    for name in NAMES:
        assert read(tmp_path / name) != read(remade / name)


def test_folder_says_that_it_is_made_up_and_stays_small(truth: dict[str, Any]) -> None:
    assert "made up" in truth["statement"]
    assert truth["archive_kind"] == "synthetic"
    assert "made up" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert sum(path.stat().st_size for path in LOGS.iterdir()) < COMMITTED_LIMIT_BYTES


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
    # What is neither well formed nor blank is what was broken.
    assert len(lines) - len(good_lines(name)) - lines.count(b"") == sum(facts["rejected"].values())
    passed_over = facts["ignored"].get("no archive involved", 0)
    assert len(good_lines(name)) == facts["loaded_count"] + passed_over


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_as_counted(truth: dict[str, Any], name: str) -> None:
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
    # In HSI's log -1 is a return code.
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
    # From the left it would go wrong: some names hold what looks like the fields behind the path.
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
def test_stamps_are_in_order_and_leave_maintenance_out(truth: dict[str, Any], name: str) -> None:
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
    told = [
        (cell["day"], cell["interface"], cell["direction"], cell["count"], cell["size_bytes"])
        for cell in truth["daily"]
    ]
    assert counted == told


def test_no_transfer_is_below_its_envelope(truth: dict[str, Any]) -> None:
    observed = [
        # FTP's whole seconds may lie half a second under the true time.
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
            # The rate is rounded, so that the time can be up to this long.
            longest_s = int(fields[4]) / (float(fields[5]) - 0.051) / 1000
            if longest_s > 0:
                observed.append(
                    ("hsi", "put" if fields[1] == b"LH" else "get", int(fields[4]), longest_s, 0.0)
                )
    for interface, direction, size, seconds, rounding_s in observed:
        law = truth["laws"]["envelopes"][interface][direction]
        assert seconds + rounding_s >= law["latency_s"] + law["slope_s_per_byte"] * size
