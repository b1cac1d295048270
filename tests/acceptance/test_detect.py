"""`tapewise detect`, and `tapewise ingest` without --format."""

import gzip
import json

import pytest

from tapewise.ingest.formats.registry import FORMATS
from tests.acceptance.conftest import run_command

pytestmark = pytest.mark.study("ingest", "tapewise")

NFT = "005041 97/10/01 00:01:{:02} js 7700 0.425\n"
STAT = "97/10/01 00:01:{:02}.000 2360  File transfer (j-s) 7700 bytes in 0.425 seconds\n"
HSI = (
    "Sat Aug 10 00:12:{:02} 2019 dtn1.example.gov hsi 6004 12059\tHL\t0\t61.25\t3665510098\t68638.4\t5"
    "\t<stdout>\t/home/p/secret-name.tar.gz\t6004\n"
)
COND = "002718 14:06:48 14:07:{:02} 2360 102     17 put -d /scratch/k/secret-name\n"


def write(folder, name, *lines):
    (folder / name).write_text(
        "".join(line.format(second) for line, count in lines for second in range(count))
    )


@pytest.fixture
def mixed(tmp_path):
    """A folder with logs in three formats and files that match none."""
    write(tmp_path, "nft.log", (NFT, 20))
    write(tmp_path, "hsi.log", (HSI, 19), ("nonsense\n", 1))
    write(tmp_path, "cond.971001", (COND, 3))
    write(tmp_path, "half.log", (NFT, 6), (HSI, 4))
    return tmp_path


def ingest(tapewise, archive, *options):
    return tapewise("ingest", "--archive", archive, "--kind", "synthetic", "--timezone", "UTC", *options)


def sources(tapewise, archive):
    query = f"SELECT source, format, fate, sum(line_count)::int AS line_count FROM mart.line_fates\
        WHERE archive = '{archive}' AND fate = 'loaded' GROUP BY source, format, fate"
    rows = json.loads(tapewise("sql", "--json", query).stdout)
    return {(row["source"], row["format"]): row["line_count"] for row in rows}


def test_detect_shows_which_formats_fit_and_how_well(tapewise, mixed):
    (mixed / "empty").touch()
    result = tapewise("detect", "nft.log", "hsi.log", "half.log", "empty")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "nft.log: nft (NFT transfer log of the UniTree archive at Lawrence Livermore)",
        "  20 lines looked at: all that are not blank",
        "  nft    100.0 %  20",
        "hsi.log: hsi (HSI and HTAR server log of HPSS)",
        "  20 lines looked at: all that are not blank",
        "  hsi     95.0 %  19",
        "half.log: no format detected",
        "  10 lines looked at: all that are not blank",
        "  nft     60.0 %  6",
        "  hsi     40.0 %  4",
        "  `tapewise ingest --format nft` would load the lines of nft and reject the others;"
        " `tapewise formats` lists all formats",
        "empty: no format detected: it has no whole line that is not blank",
    ]


def test_detect_as_json(tapewise, mixed):
    result = tapewise("detect", "--json", "hsi.log", "absent.log")
    fitting, failed = map(json.loads, result.stdout.splitlines())
    assert fitting["fits"][0] == {"format": "hsi", "fit_count": 19, "fit_ratio": 0.95}
    assert len(fitting["fits"]) == len(FORMATS)
    assert (fitting["format"], fitting["places"], fitting["line_count"]) == ("hsi", ["all"], 20)
    assert failed == {"path": "absent.log", "error": "absent.log: No such file or directory"}
    assert result.returncode == 1


def test_detect_continues_after_an_unreadable_file_and_escapes_its_name(tapewise, mixed):
    (mixed / "bad\x1b[31m").mkdir()
    result = tapewise("detect", "bad\x1b[31m", "nft.log")
    assert result.returncode == 1
    assert "nft.log: nft" in result.stdout
    assert "bad\\x1b[31m: is a folder" in result.stderr
    assert "\x1b" not in result.stderr
    assert tapewise("detect").returncode == 2


def test_detect_needs_no_warehouse(mixed, tapewise):
    result = tapewise("--database-url", "postgresql://nobody@127.0.0.1:1/x", "detect", "nft.log")
    assert (result.returncode, result.stderr) == (0, "")


def test_files_of_a_mixed_folder_are_loaded_into_the_source_of_their_format(tapewise, mixed):
    result = ingest(tapewise, "mixed", "nft.log", "hsi.log", "cond.971001", "half.log")
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "nft.log: read as nft, detected from its lines",
        "hsi.log: read as hsi, detected from its lines",
        "cond.971001: read as cond, detected from its lines",
        "tapewise: half.log: no format detected: its lines are of two formats: nft fits 60.0 %, hsi fits"
        " 40.0 % of 10 lines",
        "tapewise: 1 of 4 files not loaded.",
        "Write the lines of each format into a file of its own. Or give --format nft: the lines of hsi are"
        " then rejected.",
        "The others were read; see above.",
    ]
    loaded = {("nft", "nft"): 20, ("hsi", "hsi"): 19, ("cond", "cond"): 3}
    assert sources(tapewise, "mixed") == loaded
    again = ingest(tapewise, "mixed", "nft.log", "hsi.log", "cond.971001")
    assert again.returncode == 0
    assert sources(tapewise, "mixed") == loaded
    given = ingest(tapewise, "mixed", "--format", "nft", "half.log")
    assert "10 lines = 0 loaded + 6 held + 0 ignored + 4 rejected" in given.stdout
    assert given.stderr == ""


def test_json_has_a_field_for_the_chosen_format(tapewise, mixed):
    result = ingest(tapewise, "taken", "--json", "--dry-run", "hsi.log", "nft.log")
    results = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["format"] for each in results] == ["hsi", "nft"]
    assert results[0]["rejected_samples"] == [
        {"line_number": 20, "reason": "not a line of this format", "text": "nonsense"}
    ]
    assert result.stderr == ""
    shown = ingest(tapewise, "taken", "--dry-run", "hsi.log").stdout
    assert "    line 20: not a line of this format: 'nonsense'\n" in shown
    assert "taken" not in tapewise("archives", "list").stdout


def test_a_log_without_any_lines_yet_is_not_a_failure(tapewise, mixed):
    (mixed / "empty.log").touch()
    (mixed / "blank.log").write_text("\n \n")
    (mixed / "begun.gz").write_bytes(gzip.compress(b"")[:10])
    (mixed / "first.log").write_text(HSI[:30])
    names = ["empty.log", "blank.log", "begun.gz", "first.log"]
    result = ingest(tapewise, "fresh", *names, "nft.log")
    assert (result.returncode, result.stderr) == (0, "nft.log: read as nft, detected from its lines\n")
    assert result.stdout.splitlines()[:5] == [
        *(f"{name}: no whole line yet; passed over until it has one" for name in names),
        "nft.log: 20 lines = 20 loaded + 0 held + 0 ignored + 0 rejected",
    ]
    result = ingest(tapewise, "bare", "--json", "empty.log")
    printed = json.loads(result.stdout)
    assert (result.returncode, printed["path"], printed["line_count"], printed["format"]) == (
        0,
        "empty.log",
        0,
        None,
    )
    assert "bare (" not in tapewise("archives", "list").stdout
    given = ingest(tapewise, "fresh", "--format", "nft", "empty.log")
    assert (given.returncode, given.stdout.splitlines()[1]) == (
        0,
        "  empty: no line yet; it is read when it has grown",
    )
    write(mixed, "empty.log", (HSI, 4))
    assert ingest(tapewise, "fresh", *names[:3]).returncode == 0
    assert sources(tapewise, "fresh") == {("nft", "nft"): 20, ("hsi", "hsi"): 4}


def test_a_source_has_one_format(tapewise, mixed):
    result = ingest(tapewise, "one", "--source", "gw1", "nft.log", "hsi.log")
    assert (result.returncode, result.stdout) == (1, "")
    assert "source 'gw1' would have several formats: hsi.log is hsi, nft.log is nft" in result.stderr
    assert "one (" not in tapewise("archives", "list").stdout


def test_the_format_of_a_source_with_facts_is_fixed(tapewise, mixed):
    assert ingest(tapewise, "held", "--source", "gw1", "nft.log").returncode == 0
    write(mixed, "few.log", (NFT, 30), (HSI, 5))
    result = ingest(tapewise, "held", "--source", "gw1", "few.log")
    assert (result.returncode, result.stderr) == (0, "few.log: read as nft, the format of source 'gw1'\n")
    assert "35 lines = 10 loaded + 20 held + 0 ignored + 5 rejected" in result.stdout
    wrong = ingest(tapewise, "held", "--source", "gw1", "hsi.log")
    assert wrong.returncode == 1
    assert "no line of it is in format nft" in wrong.stderr


def test_the_format_of_a_source_without_facts_is_still_open(tapewise, mixed):
    assert ingest(tapewise, "empty", "--source", "gw1", "--format", "pftp", "nft.log").returncode == 1
    result = ingest(tapewise, "empty", "--source", "gw1", "nft.log")
    assert (result.returncode, result.stderr) == (0, "nft.log: read as nft, detected from its lines\n")
    assert sources(tapewise, "empty") == {("gw1", "nft"): 20}


def test_logs_of_the_same_transfers_are_not_counted_twice_by_default(tapewise, mixed):
    write(mixed, "stat.log", (STAT, 20))
    result = ingest(tapewise, "twice", "nft.log", "stat.log")
    assert (result.returncode, result.stdout) == (1, "")
    assert "nft and stat report the same transfers" in result.stderr
    assert "--not-counted" in result.stderr
    assert ingest(tapewise, "twice", "nft.log").returncode == 0
    assert ingest(tapewise, "twice", "--not-counted", "stat.log").returncode == 0
    assert sources(tapewise, "twice") == {("nft", "nft"): 20, ("stat", "stat"): 20}
    counted = "SELECT count(*) FROM mart.transfers WHERE archive = 'twice'"
    assert json.loads(tapewise("sql", "--json", counted).stdout) == [{"count": 20}]


def test_a_day_can_be_given_with_a_detected_format(tapewise, mixed):
    (mixed / "cond.971001").rename(mixed / "cond")
    result = ingest(tapewise, "day", "--date", "1997-10-01", "cond")
    assert (result.returncode, result.stderr) == (0, "cond: read as cond, detected from its lines\n")
    assert ingest(tapewise, "day", "--date", "1997-10-01", "nft.log").returncode == 2
    undated = ingest(tapewise, "other-day", "cond")
    assert undated.returncode == 1
    assert "the name has no date" in undated.stderr


def test_standard_input_and_folders_can_be_looked_at(tmp_path):
    text = "".join(HSI.format(second) for second in range(60))
    done = run_command(["detect", "--json", "-"], cwd=tmp_path, input=text)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["format"], found["path"]) == ("hsi", "/dev/stdin")
    (tmp_path / "logs" / "old").mkdir(parents=True)
    for name in ("logs/a.log", "logs/old/b.log"):
        (tmp_path / name).write_text(text)
    for arguments in (["-r", "logs"], ["logs/**/*.log"]):
        done = run_command(["detect", "--json", *arguments], cwd=tmp_path)
        paths = sorted(json.loads(line)["path"] for line in done.stdout.splitlines())
        assert paths == ["logs/a.log", "logs/old/b.log"], arguments
    done = run_command(["detect", "logs"], cwd=tmp_path)
    assert done.returncode == 1
    assert "tapewise: logs: is a folder\n" in done.stderr
    assert "give -r" in done.stderr
