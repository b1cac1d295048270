"""The findings of `tapewise report` are those of the lines themselves, counted here without Tapewise."""

import gzip
import json
import math
import re
from collections import Counter
from datetime import date, datetime, timedelta
from statistics import median

import pytest

from tests.acceptance.conftest import TREE, run_command

pytestmark = pytest.mark.study("sql", "tapewise/report")

LOGS = TREE / "examples" / "logs"
HSI = LOGS / "hsi.log"
ZONE = ["--timezone", "America/Los_Angeles"]


def read_transfers():
    """Read the transfers of the example's HSI log, without Tapewise."""
    transfers = []
    for line in HSI.read_text(errors="replace").splitlines():
        head, *fields = line.split("\t")
        words = head.split()
        program = words[6] if len(words) > 7 else ""
        if program == "htar" and len(fields) == 10:
            fields = [*fields[1:3], "", *fields[3:]]  # it has no open time
        elif program != "hsi" or len(fields) < 8 or fields[0] not in ("LH", "HL"):
            continue
        try:
            ended_at = datetime.strptime(" ".join(words[:5]), "%a %b %d %H:%M:%S %Y")
            size_bytes = int(fields[3])
            rate_bytes_per_s = 1000 * float(fields[5 if program == "htar" else 4])
        except ValueError:
            continue
        if size_bytes < 0:  # a damaged line
            continue
        transfers.append(
            {
                **{"program": program, "is_get": fields[0] == "HL", "ended_at": ended_at},
                **{"user": words[7], "is_failed": fields[1] != "0", "size_bytes": size_bytes},
                "duration_s": size_bytes / rate_bytes_per_s if rate_bytes_per_s else 0,
                "open_s": None if program == "htar" else float(fields[2]),
            }
        )
    return transfers


def test_findings_are_those_of_the_lines(tmp_path):
    done = run_command(["report", "--json", *ZONE, str(HSI)], cwd=tmp_path)
    document = json.loads(done.stdout)
    found = {each["section"]: each["sentence"] for each in document["findings"]}
    transfers = read_transfers()
    # Dates far from the others are damage, and rejected.
    transfers = [each for each in transfers if f"{each['ended_at']:%Y-%m}" == "1998-10"]
    assert len(transfers) == sum(row["transfer_count"] for row in document["transfers"])
    sound = [each for each in transfers if not each["is_failed"]]

    days = Counter()
    for each in sound:
        days[each["ended_at"].date()] += each["size_bytes"]
    busiest_on, most_bytes = max(days.items(), key=lambda day: day[1])
    ratio = most_bytes / median(size for size in days.values() if size)
    assert busiest_on == date(1998, 10, 29)
    assert found["days"] == f"Thu 1998-10-29 moved {ratio:.1f} times the bytes of a median day"

    puts = [each for each in transfers if (each["program"], each["is_get"]) == ("hsi", False)]
    failed = sum(each["is_failed"] for each in puts)
    share = f"{100 * failed / len(puts):.0f} %"
    assert found["failures"] == f"{share} of the puts by hsi failed ({failed} of {len(puts):,})"

    users = Counter()
    for each in sound:
        users[each["user"]] += each["size_bytes"]
    some, count = 0, 0
    for _, size in users.most_common():
        some, count = some + size, count + 1
        if some >= sum(users.values()) / 2:
            break
    assert found["user_curve"] == f"Half of the bytes came from {count} of {len(users)} users"

    for direction, is_get in (("get", True), ("put", False)):
        sizes = sorted(each["size_bytes"] for each in sound if each["is_get"] == is_get)
        (row,) = [row for row in document["sizes"] if row["direction"] == direction]
        assert row["request_count"] == len(sizes)
        for percent in (5, 25, 50, 75, 95, 99):
            assert row[f"p{percent}_bytes"] == sizes[math.ceil(percent * len(sizes) / 100) - 1]

    large = [each["size_bytes"] for each in sound if not each["is_get"] and each["size_bytes"] >= 10**9]
    sizes = [each["size_bytes"] for each in sound if not each["is_get"]]
    # The report reads sizes from a histogram, within 1 %.
    shown = re.fullmatch(
        "([0-9]+) % of the puts, those of 1 GB or more, moved ([0-9]+) % of their bytes", found["size_shares"]
    )
    assert shown is not None
    assert float(shown[1]) == pytest.approx(100 * len(large) / len(sizes), abs=0.6)
    assert float(shown[2]) == pytest.approx(100 * sum(large) / sum(sizes), abs=1)

    waits = [each["open_s"] for each in sound if each["is_get"] and each["open_s"] is not None]
    # The wait of a few is unknown to the report, because their rate, and so their beginning, is.
    shown = re.fullmatch(
        "One in twenty of the ([0-9,]+) gets with a known wait waited longer than ([0-9]+) s", found["times"]
    )
    assert shown is not None
    assert sum(wait > float(shown[2]) for wait in waits) / len(waits) == pytest.approx(0.05, abs=0.005)
    long = sum(wait >= 60 for wait in waits) / len(waits)
    assert found["open_time_bins"] == (
        f"{100 * long:.0f} % of the {len(waits):,} gets with an open time waited a minute or longer"
    )
    silences, last_at = [], min(each["ended_at"] for each in transfers)
    for each in sorted(transfers, key=lambda each: each["ended_at"]):
        silences.append((each["ended_at"] - timedelta(seconds=each["duration_s"]) - last_at, last_at))
        last_at = each["ended_at"]
    longest, began_at = max(silences)
    hours, minutes = longest.seconds // 3600, longest.seconds // 60 % 60
    assert found["silences"] == (
        f"No day passed in unexplained silence: at most {hours} h {minutes} min, in the silence from"
        f" {began_at:%a %Y-%m-%d %H:%M}"
    )


def write_log(path, transfers):
    """Write an HSI log of gets: their end, size, seconds to open and seconds to move. It is made up."""
    with path.open("w") as log:
        for ended_at, size_bytes, open_s, duration_s in sorted(transfers):
            rate = size_bytes / duration_s / 1000
            log.write(
                f"{ended_at:%a %b %d %H:%M:%S %Y} n7.example.org hsi 507 2211\tHL\t0\t{open_s:.2f}"
                f"\t{size_bytes}\t{rate:.1f}\t4\t/tmp/a\t/home/k/a\tm12\n"
            )


def find(*arguments, cwd):
    """Run `tapewise report`, and return the sentence of each section, and whether it is notable."""
    done = run_command(["report", "--json", *map(str, arguments)], cwd=cwd)
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)["findings"]
    return {each["section"]: (each["sentence"], each["is_notable"]) for each in findings}


def test_findings_of_made_up_lines_are_what_these_were_made_of(tmp_path):
    """Three weeks with four gets an hour, but twenty from nine to ten on Mondays, and a silence of 30 h.

    A get takes half a second and then moves 10 MB/s, so latency takes longer below 5 MB. One small file in
    ten is on tape, and four medium ones in ten.
    """
    transfers, monday = [], datetime(2024, 1, 1)
    for hour in range(3 * 168 + 1):
        if 400 <= hour < 429:
            continue
        began_at = monday + timedelta(hours=hour, minutes=5)
        for number in range(20 if hour % 168 == 9 else 4):
            place = len(transfers)
            size_bytes = (
                int(1_000 * 10 ** (place % 40 / 10)) if place % 10 < 6 else 3_000_000 * (1 + place % 50)
            )
            is_on_tape = place // 40 % 10 < (1 if size_bytes < 2_000_000 else 4)
            moved_s = 0.5 + size_bytes / 1e7
            ended_at = began_at + timedelta(minutes=2 * number, seconds=round(moved_s))
            transfers.append((ended_at, size_bytes, 70 if is_on_tape else 0.1, moved_s))
    log = tmp_path / "made-up.log"
    write_log(log, transfers)
    found = find("--timezone", "UTC", log, cwd=tmp_path)
    ratio = 20 / (len(transfers) / (3 * 168 + 1))  # hours of silence count, too
    assert found["week"] == (
        f"Mon 9:00 to 10:00 is the busiest hour of the week, with {ratio:.1f} times the mean",
        True,
    )
    # The last get before the silence is the fourth of the hour before it, at 15:11.
    assert found["silences"] == (
        "No transfer for 30 h from Wed 2024-01-17 15:11, and no recorded outage explains it",
        True,
    )
    assert found["envelopes"] == (
        "More than half of the gets by hsi are so small (below 5 MB) that latency takes longer than moving"
        " their data",
        True,
    )
    shares = []
    for is_small in (True, False):
        open_times_s = [open_s for _, size_bytes, open_s, _ in transfers if (size_bytes < 2e6) == is_small]
        shares.append(100 * sum(open_s < 1 for open_s in open_times_s) / len(open_times_s))
    assert found["tape_gets"] == (
        f"{shares[0]:.0f} % of the gets of small files found them on disk, but {shares[1]:.0f} % of those of"
        " medium ones",
        True,
    )


def test_times_to_stage_are_those_of_the_lines(tmp_path):
    log = LOGS / "stat.log.gz"
    text = gzip.decompress(log.read_bytes()).decode(errors="replace")
    staged_s = sorted(
        int(text) for text in re.findall(r"^98/10/.* File staged in (\d+) seconds$", text, re.M)
    )
    middle_s, late_s = (staged_s[math.ceil(ratio * len(staged_s)) - 1] for ratio in (0.5, 0.95))
    sentence, is_notable = find(*ZONE, log, cwd=tmp_path)["stage_times"]
    said = re.fullmatch(
        r"The median stage took about (\S+) min, and the slowest twentieth (\S+) min or longer; the times"
        r" divide at (\d+) s",
        sentence,
    )
    assert said is not None, sentence
    for minutes, time_s in zip(said.groups()[:2], (middle_s, late_s), strict=True):
        assert float(minutes) * 60 == pytest.approx(time_s, rel=0.06)

    # Of all windows of ten seconds between a minute and two, the boundary is in one with the fewest stages.
    def count(from_s):
        return sum(from_s <= time_s < from_s + 10 for time_s in staged_s)

    assert min(map(count, range(60, 120))) in [count(int(said[3]) - back) for back in range(10)]
    assert not is_notable


def test_a_mount_serves_the_files_of_its_lines(tmp_path):
    """Two drives mount 55 cartridges each, of which every second serves two files, and the others one."""
    lines = []
    for number in range(110):
        began_at = datetime(2024, 1, 1) + timedelta(hours=number)
        drive = f"d3-0{number % 2}"
        steps = [(0, "tapesrvr mount", 0, "-")]
        for file in range(1 + number % 2):
            steps += [
                (60 + 60 * file, "tapesrvr positioned", file, drive),
                (90 + 60 * file, "tapesrvr complete", file, drive),
            ]
        for after_s, what, file, unit in steps:
            lines.append(
                f"{began_at + timedelta(seconds=after_s):%Y-%m-%d %H:%M:%S}.000 {what} op=stage by=client"
                f" cap=4f21.{2 * number + file:04} family=7 location=silo1 copy=1 frag=- vsn=D{number:05}"
                f" type=D3 unit={unit} block=- size=34713600 rc=0\n"
            )
    log = tmp_path / "tapes.log"
    log.write_text("".join(lines))
    found = find("--timezone", "UTC", log, cwd=tmp_path)
    assert found["mounts"] == ("A mount serves 1.5 files on average", True)


def test_classes_have_the_shares_of_their_lines(tmp_path):
    """Nine gets in ten are of about 10 kB and took about a second, and one of about 5 GB took minutes.

    A report about the file fits a model of its own.
    """
    began_at = datetime(2024, 1, 1)
    transfers = [
        (
            began_at + timedelta(minutes=10 * number),
            *(
                (5_000_000_000 + number, 70, 300 + number % 7)
                if number % 10 == 0
                else (10_000 + number, 0.1, 1)
            ),
        )
        for number in range(1000)
    ]
    log = tmp_path / "two-kinds.log"
    write_log(log, transfers)
    home = ["--home", str(tmp_path / "home")]
    about = ["--archive", "made-up", "--kind", "synthetic", "--timezone", "UTC"]
    try:
        run_command([*home, "ingest", *about, "--format", "hsi", str(log)])
        run_command([*home, "workload", "fit", "--archive", "made-up", "--name", "two"])
        done = run_command([*home, "report", "--json", "--archive", "made-up"])
    finally:
        run_command([*home, "db", "stop"])
    findings = json.loads(done.stdout)["findings"]
    (found,) = [each for each in findings if each["section"] == "classes"]
    sentence = "“small gets from disk” (hsi) are 90 % of the requests and under 1 % of the bytes"
    assert (found["sentence"], found["is_notable"]) == (sentence, True)
    assert find("--timezone", "UTC", log, cwd=tmp_path)["classes"] == (sentence, True)
