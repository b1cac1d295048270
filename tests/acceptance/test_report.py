"""`tapewise report` is correct, shows no names and leaves nothing behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.acceptance.conftest import TAPEWISE, TREE, run_command

pytestmark = pytest.mark.study("ingest", "sql", "tapewise")

HSI = TREE / "examples" / "logs" / "hsi.log"
NFT = TREE / "examples" / "logs" / "nft.log"
STAT = TREE / "examples" / "logs" / "stat.log.gz"
PFTP = TREE / "examples" / "logs" / "pftp.log.gz"
COND = TREE / "examples" / "logs" / "cond.981018.gz"
STARTED = "Starting a temporary PostgreSQL"


@pytest.fixture
def scratch():
    """A folder for temporary files that the server's account can enter too."""
    folder = Path(tempfile.mkdtemp(prefix="tapewise-scratch-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def report(tmp_path, scratch):
    def run(*arguments, **options):
        # The report must not touch this home and this URL.
        environment = {
            "TMPDIR": str(scratch),
            "TAPEWISE_HOME": str(tmp_path / "home"),
            "TAPEWISE_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nowhere",
        }
        return run_command(["report", *map(str, arguments)], cwd=tmp_path, env=environment | options)

    return run


def recount(path):
    """Count an HSI log's transfers, failures and bytes by program and direction, without Tapewise."""
    found = {}
    for line in path.read_text(errors="replace").splitlines():
        fields = line.split("\t")
        program = fields[0].split()[6] if len(fields[0].split()) > 6 else ""
        if program == "hsi" and len(fields) >= 9 and fields[1] in ("LH", "HL"):
            way, status, size = fields[1], fields[2], fields[4]
        elif program == "htar" and len(fields) == 11:
            way, status, size = fields[2], fields[3], fields[4]
        else:
            continue
        moved = found.setdefault((program, {"LH": "put", "HL": "get"}[way]), [0, 0, 0])
        moved[0] += 1
        moved[1] += status != "0"
        moved[2] += int(size) if status == "0" else 0
    return found


def test_a_report_counts_what_the_log_holds(report, tmp_path):
    log = tmp_path / "few.log"
    sound = [line for line in HSI.read_text(errors="replace").splitlines()[:280] if line]
    # This transfer failed halfway, so its bytes are not counted.
    sound.append(
        "Sun Oct 18 09:00:00 1998 dtn1.example.gov hsi 6004 12\tLH\t-5\t0.02\t999\t0.0\t5\ta\t/k/a\t60"
    )
    log.write_text("\n".join(sound) + "\nnonsense of kim\n\n")
    result = report("--json", "--timezone", "America/Los_Angeles", log)
    assert (result.returncode, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    assert {
        (row["interface"], row["direction"]): [
            row["transfer_count"], row["failed_count"], row["size_bytes"]
        ] for row in document["transfers"]
    } == recount(log)  # fmt: skip
    (file,) = document["files"]
    assert (file["format"], file["line_count"]) == ("hsi", len(sound) + 2)
    assert file["rejected_samples"] == [
        {"line_number": len(sound) + 1, "reason": "not a line of this format"}
    ]
    assert document["timezone"] == "America/Los_Angeles"
    assert document["first_event_at"].startswith("1998-10-18T00:07:03-07:00")
    assert sum(row["failed_count"] for row in document["failures"]) == sum(
        row[1] for row in recount(log).values()
    )
    assert {row["interface"] for row in document["cache_hits"]} == {"hsi", "htar"}
    assert sum(row["request_ratio"] for row in document["open_times"]) == pytest.approx(1)
    assert next(row["record"] for row in document["records"]) == "most transfers that ended in a day"
    for name in ("sizes", "times", "rates", "busiest_days", "busiest_hours", "users"):
        assert document[name], name


def test_a_report_for_people_has_no_names_and_says_what_is_unknown(report):
    result = report(PFTP, COND)
    assert result.returncode == 0
    assert "Times were read as UTC, since no --timezone was given." in result.stdout
    left_out = result.stdout.partition("What is left out, and why")[2]
    assert "These logs report no open times or stages or hits.\n- Gets that found" in left_out
    assert "These logs report no open times.\n- Open times of gets" in left_out
    assert "Nothing failed, as far as these logs report failures.\n- Failures" in left_out
    assert (
        len(re.findall(r"^ p?ftp +(?:get|put) +[0-9,]+ +not in the log ", result.stdout, re.MULTILINE)) == 4
    )
    assert f"{PFTP}: 3,000 lines" in result.stdout
    assert "rejected: 1 not a line of this format\n    line 98: not a line of this format\n" in result.stdout
    assert "/home" not in result.stdout.replace(str(TREE), "")
    assert "example.gov" not in result.stdout
    assert result.stderr.startswith(STARTED)


def test_transfers_without_an_hour_are_not_given_one(report, tmp_path):
    log = tmp_path / "hsi.2019-03-05.log"
    log.write_text("put 'a' : '/k/a' ( 1000000 bytes, 500.0 KBS (cos=1))\n" * 3)
    found = json.loads(report("--json", log).stdout)
    assert (found["first_event_at"], found["last_event_at"]) == (None, None)
    assert (found["first_event_on"], found["last_event_on"]) == ("2019-03-05", "2019-03-05")
    assert found["hour_unknown_count"] == 3
    assert found["busiest_hours"] == []
    # Users and clients are unknown too, as the log does not contain them.
    assert [row["user_count"] for row in found["transfers"]] == [None]
    assert found["clients"] == []
    assert {row["record"]: row["happened_local"] for row in found["records"]} == {
        "most transfers that ended in a day": "2019-03-05",
        "most bytes of puts that ended in a day": "2019-03-05",
        "largest file put": "2019-03-05, hour unknown",
        "longest transfer": "2019-03-05, hour unknown",
    }
    shown = report(log).stdout
    assert "Tue 2019-03-05 to Tue 2019-03-05, UTC\nThe hour is unknown for 3 events" in shown
    assert "12:00" not in shown


def test_only_one_of_two_logs_of_the_same_transfers_counts(report):
    both, nft = (json.loads(report("--json", *logs).stdout) for logs in ((NFT, STAT), (NFT,)))
    # STAT's log reports failures; NFT's log does not.
    failed = {row["direction"]: row["failed_count"] for row in both["transfers"]}
    assert failed == {"get": 52, "put": 167}
    assert {row["failed_count"] for row in nft["transfers"]} == {None}
    for with_stat, alone in zip(both["transfers"], nft["transfers"], strict=True):
        assert (with_stat["interface"], with_stat["size_bytes"]) == ("nft", alone["size_bytes"])
        assert with_stat["transfer_count"] - with_stat["failed_count"] == alone["transfer_count"]
        assert alone["failures_unknown_count"] == alone["transfer_count"]
    assert {row["what"] for row in both["others"]} == {"name-space event", "stage from tape"}
    (hits,) = both["cache_hits"]
    assert 0 < hits["hit_ratio"] < 1
    assert nft["cache_hits"] == []
    assert "NFT's are counted here" in report(NFT, STAT).stdout


def test_unreadable_files_are_listed_and_the_others_reported(report, tmp_path):
    (tmp_path / "nonsense").write_text("no log\n")
    result = report("--json", "absent", "nonsense", COND)
    assert result.returncode == 1
    assert "absent: No such file" in result.stderr
    assert "2 of 3 files not summarised" in result.stderr
    files = json.loads(result.stdout)["files"]
    assert [file.get("line_count") for file in files] == [430, None, None]
    assert "no format detected" in files[2]["error"]


@pytest.mark.parametrize(
    "arguments, status, said",
    [
        (["absent"], 1, "absent: No such file"),
        (["--timezone", "Mars/Olympus", HSI], 1, "Mars/Olympus"),
        (["--format", "netflow", HSI], 1, "netflow"),
        (["--date", "1998-10-18", HSI], 2, "lines of format hsi have dates"),
        (["--format", "cond", "--date", "1998-10-18", COND, HSI], 2, "one file at a time"),
        ([], 2, "PATHS"),
    ],
)
def test_no_server_is_started_if_nothing_can_be_reported(report, scratch, tmp_path, arguments, status, said):
    (tmp_path / "empty").touch()
    result = report(*arguments)
    assert (result.returncode, result.stdout) == (status, "")
    assert said in result.stderr
    assert STARTED not in result.stderr
    assert "Traceback" not in result.stderr
    assert list(scratch.iterdir()) == []


def find_servers(folder):
    """Find the processes whose command line names a folder: servers and their keepers."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder) in (process / "cmdline").read_text():
                found.append(process.name)
        except OSError:
            continue  # it has ended in the meantime
    return found


def assert_nothing_is_left(scratch, tmp_path):
    assert list(scratch.iterdir()) == []
    assert not (tmp_path / "home").exists()
    deadline = time.monotonic() + 30
    while servers := find_servers(scratch):  # a keeper checks once a second
        assert time.monotonic() < deadline, servers
        time.sleep(0.2)


def test_a_report_leaves_nothing_behind(report, scratch, tmp_path):
    assert report(COND).returncode == 0
    assert_nothing_is_left(scratch, tmp_path)


def test_nothing_is_left_if_the_servers_account_cannot_enter_the_folder(report, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert report(COND, TMPDIR=str(closed)).returncode == 0
    assert_nothing_is_left(closed, tmp_path)
    for note in Path("/var/lib/tapewise/clusters").glob("*/home.txt"):
        assert str(closed) not in note.read_text()


@pytest.mark.study("ingest", "schema", "tapewise")
@pytest.mark.parametrize(
    ("number", "mark"),
    [
        (signal.SIGINT, "postgresql-18"),
        (signal.SIGINT, "postgresql-18/data/postmaster.pid"),
        (signal.SIGTERM, "postgresql-18"),
        (signal.SIGHUP, "postgresql-18/data/postmaster.pid"),
    ],
)
def test_an_interrupted_report_leaves_nothing_behind(scratch, tmp_path, number, mark):
    environment = os.environ | {
        "PYTHONPATH": str(TREE), "TMPDIR": str(scratch), "TAPEWISE_HOME": str(tmp_path / "home"),
    }  # fmt: skip
    with subprocess.Popen(
        [*TAPEWISE, "report", str(NFT), str(STAT)], env=environment, cwd=tmp_path,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 60
        while not list(scratch.glob(f"*/{mark}")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode in (1, 128 + number), stderr
    assert stdout == ""
    assert "Traceback" not in stderr
    assert_nothing_is_left(scratch, tmp_path)


# Sections that the text shows as tables, those that only have a figure, and those that read single lines.
TABLES = (
    *("transfers", "others", "failures", "busiest_days", "busiest_hours", "records", "silences", "sizes"),
    *("times", "rates", "envelopes", "users", "clients", "cache_hits", "tape_gets", "open_times", "mounts"),
    *("mount_steps", "mount_hours", "volumes", "tape_operations", "mount_totals", "mount_total_steps"),
    *("listed_volumes", "listed_drives", "listed_queues", "recalls", "drive_use", "growth"),
)
FIGURES = ("days", "week", "size_shares", "size_times", "user_curve", "open_time_bins", "stage_times")
OF_TAPE = ("mounts", "mount_steps", "mount_hours", "volumes", "tape_operations", "drive_use")
OF_TOTALS = ("mount_totals", "mount_total_steps")
OF_LISTINGS = ("listed_volumes", "listed_drives", "listed_queues")
UNREPORTED = OF_TAPE + OF_TOTALS + OF_LISTINGS  # by logs of HSI
OF_LINES = ("others", "failures", "silences", "envelopes", "clients", "recalls", *UNREPORTED)
ZONE = ["--timezone", "America/Los_Angeles"]


def round_means(rows):
    """Round what depends on the order of a sum of floats."""
    return [
        {name: float(f"{value:.12g}") if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    ]


def count_left_out(shown: str, reason: str) -> int:
    """The number of sections that a report leaves out for this reason."""
    found = re.search(rf"^{re.escape(reason)}[^-]*((?:^- .*\n(?:  .*\n)*)+)", shown, re.M)
    return 0 if found is None else len(re.findall("^- ", found[1], re.M))


def test_a_report_about_an_archive_says_what_one_about_its_files_does(report, tapewise, tmp_path):
    """Also for a range of days, compared with only the lines of these days, and after some were forgotten."""
    lines = HSI.read_text(errors="replace").splitlines(keepends=True)
    some = tmp_path / "some.log"
    # Two days in the middle, by the text of the lines.
    some.write_text("".join(line for line in lines if re.match("... Oct 2[01] .* 1998 ", line)))
    read = tapewise(
        "ingest", "--archive", "reported", "--kind", "synthetic", "--format", "hsi", *ZONE, str(HSI)
    )
    assert read.returncode == 0
    about_file, about_some = (json.loads(report("--json", *ZONE, path).stdout) for path in (HSI, some))
    days = ("--since", "1998-10-20", "--until", "1998-10-22")

    def ask(*options):
        return json.loads(tapewise("report", "--archive", "reported", "--json", *options).stdout)

    for about_archive, expected in ((ask(), about_file), (ask(*days), about_some)):
        assert about_some["transfers"] != about_file["transfers"]
        # A silence that crosses an edge of the range is whole; the file ends there.
        silences = [row for row in about_archive["silences"] if row["started_local"] > "1998-10-20"]
        if about_archive["since"] is None:
            silences = about_archive["silences"]
        assert silences == expected["silences"][: len(silences)] != []
        # Files from before the range are known to an archive only.
        for name in set(TABLES + FIGURES) - {"silences", *(["growth"] if expected is about_some else [])}:
            assert round_means(about_archive[name]) == round_means(expected[name]), name
    found = ask(*days)
    assert (found["kind"], found["timezone"]) == ("synthetic", "America/Los_Angeles")
    assert (found["since"], found["until"]) == ("1998-10-20", "1998-10-22")
    assert (found["first_transfer_on"], found["last_transfer_on"]) == ("1998-10-20", "1998-10-21")
    [source] = found["sources"]
    assert (source["line_count"], source["rejected_count"]) == (3979, 11)
    assert "clients" not in {row["fact"] for row in found["missing"]}
    assert "tape events" in {row["fact"] for row in found["missing"]}
    shown = tapewise("report", "--archive", "reported", *days)
    assert "reported (made-up logs), America/Los_Angeles\n" in shown.stdout
    period = "Transfers ended from Tue 1998-10-20 to Wed 1998-10-21"
    assert f"{period} (asked for: from 1998-10-20 until 1998-10-22, exclusive).\n" in shown.stdout
    assert "was forgotten" not in shown.stdout
    assert shown.stderr == "Reading the archive ...\n"
    assert tapewise("forget", "--archive", "reported", "--before", "1998-10-21", "--yes").returncode == 0
    shown = tapewise("report", "--archive", "reported").stdout
    assert "Detail from before 1998-10-21 was forgotten." in shown
    shown = tapewise("report", "--archive", "reported", "--until", "1998-10-20").stdout
    # The logs do show clients and failures; nothing is said of them but that they are forgotten. They never
    # showed mounts.
    forgotten_count = count_left_out(shown, "Unknown: the detail of days in this time was forgotten")
    assert forgotten_count == len(OF_LINES) - len(UNREPORTED)
    assert re.findall("These logs.*", shown.partition("\nPeriod\n")[2]) == [
        f"These logs report no {fact}." for fact in ("tape events", "mount summaries", "snapshots")
    ]
    forgotten = ask()
    # Cells still have all days, single lines only the later ones.
    assert [row["transfer_count"] for row in forgotten["transfers"]] == [
        row["transfer_count"] for row in about_file["transfers"]
    ]
    for name in ("busiest_days", "rates", "users", "days", "week", "size_shares"):
        assert forgotten[name] == about_file[name], name
    # Percentiles of days without detail come from histograms.
    for row, exact in zip(forgotten["sizes"], about_file["sizes"], strict=True):
        assert row.pop("direction") == exact.pop("direction")
        assert row == pytest.approx(exact, rel=0.01)
        assert row != exact
    assert forgotten["failures"] != about_file["failures"]
    assert "Detail" not in tapewise("report", "--archive", "reported", "--since", "1998-10-21").stdout
    nothing = tapewise("report", "--archive", "reported", "--since", "1998-11-05").stdout
    assert "No transfer ended in this time (asked for: from 1998-11-05 on).\n" in nothing
    assert count_left_out(nothing, "None in this time.") == len(TABLES) - len(UNREPORTED)
    assert count_left_out(nothing, "These logs report no tape events.") == len(OF_TAPE)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 2, "Give log files (PATHS), or an archive of the warehouse (--archive)."),
        (["--archive", "reported", "x.log"], 2, "leave out PATHS, and options that say how to read them."),
        (
            ["--archive", "reported", "--timezone", "UTC"],
            2,
            "leave out PATHS, and options that say how to read them.",
        ),
        (["--since", "1998-10-20", "x.log"], 2, "--since and --until go with --archive."),
        (["--archive", "x", "--since", "1998-10-20", "--until", "1998-10-20"], 2, "--since must be before"),
        (
            ["--archive", "nobody"],
            1,
            "tapewise: no archive is called 'nobody'.\n`tapewise archives list` shows",
        ),
    ],
)
def test_a_wrong_question_is_refused(tapewise, arguments, status, said):
    result = tapewise("report", *arguments)
    assert result.returncode == status
    assert said in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [["empty"], ["unfinished"], ["empty", "unfinished"]])
def test_a_report_about_no_line_says_so_in_every_form(report, tmp_path, arguments):
    (tmp_path / "empty").touch()
    (tmp_path / "unfinished").write_text(HSI.read_text(errors="replace").partition("\n")[0])
    said = "No line was loaded, so there is nothing to report."
    text = report(*arguments)
    assert (text.returncode, said in text.stdout) == (0, True)
    assert (text.stdout + text.stderr).count("empty: no whole line yet") == ("empty" in arguments)
    # A single unfinished line may show its format.
    assert (STARTED in text.stderr) == ("unfinished" in arguments)
    assert "What is left out" not in text.stdout
    document = json.loads(report("--json", *arguments).stdout)
    passed_over = ["empty: no whole line yet; passed over."] if "empty" in arguments else []
    assert document["doubts"] == [*passed_over, said]
    assert [file["waiting_bytes"] > 0 for file in document["files"]] == [True] * ("unfinished" in arguments)
    assert (document["transfers"], document["left_out"]) == ([], {})
    page = report("--html", "-", *arguments)
    assert (page.returncode, said in page.stdout, "What is left out" in page.stdout) == (0, True, False)


def test_an_unfinished_last_line_is_read_if_the_file_is_complete(report, tmp_path):
    first, second = HSI.read_text(errors="replace").split("\n")[:2]
    (tmp_path / "log").write_text(f"{first}\n{second}")
    waiting = "an unfinished last line of " + str(len(second)) + " bytes was not read"
    for arguments, count, is_waiting in (((), 1, True), (("--complete",), 2, False)):
        done = report("log", *arguments)
        assert f"log: {count} {'line' if count == 1 else 'lines'} = {count} loaded" in done.stdout
        assert (waiting in done.stdout) == is_waiting
    (tmp_path / "single").write_text(first)
    document = json.loads(report("--json", "--complete", "single").stdout)
    assert sum(row["transfer_count"] for row in document["transfers"]) == 1


def test_no_report_is_made_if_no_file_can_be_read(report, tmp_path):
    (tmp_path / "junk").write_text("junk\n" * 5)
    done = report("junk", HSI)
    assert done.returncode == 1
    assert "Files that were not read\n\njunk: no format detected" in done.stdout
    for form in ([], ["--json"], ["--html", "-"]):
        done = report(*form, "junk")
        assert (done.returncode, done.stdout) == (1, ""), form
        assert "junk: no format detected" in done.stderr
    (tmp_path / "unfinished").write_text("junk")
    done = report("--complete", "unfinished")
    assert (done.returncode, done.stdout) == (1, "")
    # What goes wrong only when it is loaded has no report either.
    (tmp_path / "undated").write_bytes(COND.read_bytes())
    done = report("--format", "cond", "undated")
    assert (done.returncode, done.stdout) == (1, "")
    assert "date" in done.stderr


def test_a_report_says_how_many_transfers_are_in_an_hour_that_clocks_show_twice(report, tmp_path):
    """The log steps back by minutes only, so it may be of either pass."""
    line = PUT.replace("Sun Oct 18 01:05:00", "Sun Oct 25 01:0{}:00")
    (tmp_path / "log").write_text("".join(line.format(minute) for minute in (2, 4, 6, 2, 4, 6)) + PUT)
    said = "6 transfers ended in an hour that clocks show twice, when summer time ends."
    zone = ("--timezone", "America/Los_Angeles")
    assert said in " ".join(report(*zone, "log").stdout.split())
    assert any(each.startswith(said) for each in json.loads(report("--json", *zone, "log").stdout)["doubts"])
    assert json.loads(report("--json", "--timezone", "UTC", "log").stdout)["doubts"] == []
    (tmp_path / "one").write_text(line.format(2))
    assert f"\n1 transfer{said[11:57]}" in report(*zone, "one").stdout


PUT, FAILED_PUT = (
    f"Sun Oct 18 01:05:00 1998 a.example hsi 1 2\tLH\t{status}\t0.02\t{size}\t{rate}\t0\t/x\t/home/x/y\t1\n"
    for status, size, rate in ((0, 5_000_000, 5180.0), (-1, 0, 0.0))
)
DELETE = "Sun Oct 18 01:05:00 1998 a.example hsi 1 2\tFU\t0\t0.00\t105616\t0.0\t0\t/home/x/y\t\n"


@pytest.mark.parametrize(
    "text, reasons, users",
    [
        (
            PUT * 3,
            {
                "cache_hits": "Of no get that succeeded is it known where its file was.",
                "failures": "Nothing failed, as far as these logs report failures.",
                "mounts": "These logs report no tape events.",
                "silences": "No time without a transfer was an hour or longer.",
                "stage_times": "These logs report no stages.",
            },
            [1],
        ),
        (
            DELETE * 3,
            {
                "transfers": "These logs report no transfers.",
                "classes": "These logs report no transfers.",
                "week": "These logs report no transfers.",
            },
            [],
        ),
        (
            FAILED_PUT * 3,
            {
                "sizes": "No request of a known size succeeded.",
                "users": "No request of a known user succeeded.",
                "rates": "These logs report no durations.",
                "classes": "No request has a size and a time to sort it by.",
            },
            [0],
        ),
    ],
)
def test_a_section_says_why_it_is_left_out(report, tmp_path, text, reasons, users):
    (tmp_path / "log").write_text(text)
    document = json.loads(report("--json", "log").stdout)
    assert [row["user_count"] for row in document["transfers"]] == users
    assert len(document["busiest_hours"]) == len(users)
    assert reasons.items() <= document["left_out"].items(), document["left_out"]
    assert not any(document[name] for name in document["left_out"])
    printed = report("log").stdout.partition("What is left out, and why")[2]
    assert all(reason in printed for name, reason in reasons.items() if name != "stage_times")


def test_a_report_reads_standard_input_and_folders(tmp_path):
    text = HSI.read_text(errors="replace")
    (tmp_path / "logs" / "old").mkdir(parents=True)
    lines = text.splitlines(keepends=True)
    (tmp_path / "logs" / "a.log").write_text("".join(lines[:2000]))
    (tmp_path / "logs" / "old" / "b.log").write_text("".join(lines[2000:]))
    counts = []
    for arguments, options in ((["-"], {"input": text}), (["-r", "logs"], {}), (["logs/**/*.log"], {})):
        done = run_command(["report", "--json", *ZONE, *arguments], cwd=tmp_path, **options)
        assert done.returncode == 0, done.stderr
        counts.append([row["transfer_count"] for row in json.loads(done.stdout)["transfers"]])
    assert counts[0] == counts[1] == counts[2]
    done = run_command(["ingest", "--archive", "a", "--timezone", "UTC", "-"], cwd=tmp_path)
    assert done.returncode == 2
    assert "Standard input has no name by which it could be known again" in done.stderr
    done = run_command(["report", "--archive", "a", "-r"], cwd=tmp_path)
    assert done.returncode == 2
