"""What users type and what they get: output, messages and exit status."""

import csv
import gzip
import io
import json
from importlib.metadata import version

import click
import pytest

from tapewise.cli import cli
from tests.acceptance.conftest import run_command

NFT = "005041 97/10/01 00:01:41 js 7700 0.425\n001194 97/10/01 00:01:42 sj 13166758 20.415\n"
HSI = (
    "Sat Aug 10 00:12:40 2019 dtn1.example.gov hsi 6004 12059\tHL\t0\t61.25\t3665510098\t68638.4\t5"
    "\t<stdout>\t/home/p/secret-name.tar.gz\t6004\n"
)
COND = "002718 14:06:48 14:07:31 2360 102     17 put -d /scratch/k/secret-name\n"

INGEST = ["ingest", "--archive", "x"]


def ingest(tapewise, path, *options, archive, log_format="nft", zone="UTC"):
    return tapewise(
        "ingest", "--archive", archive, "--kind", "synthetic", "--format", log_format, "--timezone", zone,
        *options, str(path),
    )  # fmt: skip


def every_command(group=cli, path=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from every_command(command, (*path, name))
        else:
            yield (*path, name), command


@pytest.mark.parametrize(
    "path, command", [*every_command()], ids=lambda value: "-".join(value) if isinstance(value, tuple) else ""
)
def test_every_command_has_help_with_an_example(path, command):
    context = click.Context(command, info_name=" ".join(path))
    shown = command.get_help(context)
    assert path[-1] in shown.split("Example", 1)[1]
    # In a raw docstring, the mark that keeps click from wrapping the examples would be shown.
    assert r"\b" not in shown


@pytest.mark.study("ingest", "schema", "tapewise")
def test_ingest_reports_the_fate_of_every_line(tapewise, tmp_path):
    log = tmp_path / "a.log"
    log.write_text(NFT + "\nnonsense\n005041 97/10/01 00:01:43 jx 7700 0.425\nunfinished")
    result = ingest(tapewise, "a.log", archive="balance")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "a.log: 5 lines = 2 loaded + 0 held + 2 ignored + 1 rejected",
        "  loaded: 2 transfers",
        "  ignored: 1 blank line, 1 no archive involved",
        "  rejected: 1 not a line of this format",
        "    line 4: not a line of this format: 'nonsense'",
        "  waiting: an unfinished last line of 10 bytes was not read (--complete reads it now)",
    ]
    again = ingest(tapewise, "a.log", archive="balance")
    assert "5 lines = 0 loaded + 2 held + 2 ignored + 1 rejected" in again.stdout
    assert "nothing is counted twice" in again.stdout


def test_ingest_as_json(tapewise, tmp_path):
    with gzip.open(tmp_path / "a.log.gz", "wt") as log:
        log.write(NFT + "nonsense\n")
    result = ingest(tapewise, "a.log.gz", "--json", archive="json")
    assert json.loads(result.stdout) == {
        "path": "a.log.gz",
        "line_count": 3,
        "loaded_count": 2,
        "held_count": 0,
        "ignored": {},
        "rejected": {"not a line of this format": 1},
        "rejected_samples": [{"line_number": 3, "reason": "not a line of this format", "text": "nonsense"}],
        "loaded": {"transfers": 2},
        "waiting_bytes": 0,
        "log_date": None,
        "log_date_from": None,
        "format": "nft",
    }


def test_a_dry_run_writes_nothing(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(NFT)
    result = ingest(tapewise, "a.log", "--dry-run", archive="dry")
    assert "2 lines = 2 loaded" in result.stdout
    assert "nothing was written" in result.stdout
    assert "dry" not in tapewise("archives", "list").stdout
    ingest(tapewise, "a.log", archive="wet")
    result = ingest(tapewise, "a.log", "--dry-run", archive="wet")
    assert "2 lines = 0 loaded + 2 held" in result.stdout


def test_one_bad_file_does_not_prevent_loading_the_others(tapewise, tmp_path):
    (tmp_path / "good.log").write_text(NFT)
    (tmp_path / "bad.log.gz").write_bytes(gzip.compress(NFT.encode() * 1000)[:60])
    result = tapewise(
        "ingest", "--archive", "some", "--kind", "synthetic", "--format", "nft", "--timezone", "UTC",
        "absent.log", "bad.log.gz", ".", "good.log",
    )  # fmt: skip
    assert result.returncode == 1
    assert "good.log: 2 lines = 2 loaded" in result.stdout
    assert "absent.log: No such file or directory" in result.stderr
    assert "bad.log.gz: the compressed file ends early" in result.stderr
    assert "tapewise: .: is a folder" in result.stderr
    assert "3 of 4 files not loaded" in result.stderr
    assert "\nbad.log.gz: Perhaps it is still being written or copied: read it again later." in result.stderr
    assert "\n.: Name the log files in it, e.g. FOLDER/*.log, or give -r." in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        ([*INGEST, "--format", "nft", "--timezone", "Mars/Olympus", "a"], 1, "Mars/Olympus"),
        ([*INGEST, "--format", "netflow", "--timezone", "UTC", "a"], 1, "netflow"),
        ([*INGEST, "--format", "nft", "--timezone", "UTC"], 2, "PATHS"),
        (
            [*INGEST, "--format", "nft", "--timezone", "UTC", "--date", "1998-05-05", "a"], 2,
            "Invalid value for '--date': lines of format nft have dates",
        ),
        (
            [*INGEST, "--format", "cond", "--timezone", "UTC", "--date", "1998-05-05", "a", "b"], 2,
            "Invalid value for '--date': is for one file at a time",
        ),
        (
            [*INGEST, "--format", "cond", "--timezone", "UTC", "--date", "980505", "a"], 2,
            "Invalid value for '--date': '980505' does not match the format '%Y-%m-%d'",
        ),
        ([*INGEST, "--format", "cond", "--timezone", "UTC", "--date", "1998-02-30", "a"], 2, "1998-02-30"),
        ([*INGEST, "--format", "cond", "--timezone", "UTC", "--date", "", "a"], 2, "--date"),
        ([*INGEST, "--kind", "simulated", "--format", "nft", "--timezone", "UTC", "a"], 2, "simulated"),
        (["nonsense"], 2, "No such command 'nonsense'.\n"),
        (["ingset"], 2, "No such command 'ingset'. Did you mean 'ingest'?"),
        (["db", "upgrde"], 2, "No such command 'upgrde'. Did you mean 'upgrade'?"),
        (["sql", "SELECT nothing FROM nowhere"], 1, "nowhere"),
        (["sql", "SELECT * FROM core.users"], 1, "permission denied for schema core"),
        (["sql", "DROP SCHEMA mart"], 1, "read-only transaction"),
        (["sql", "RESET ROLE; SELECT * FROM core.users"], 1, "a single statement"),
        (["explain", "row", "transfers", "999999999999"], 1, "has no row 999999999999"),
        (["explain", "line", "nowhere.log", "1"], 1, "never read"),
        (["explain", "row", "users", "1"], 2, "users"),
        (["archives", "drop", "nothing", "--yes"], 1, "no archive is called 'nothing'"),
        (["db", "restore", "/nowhere"], 2, "/nowhere"),
        (["formats", "netflow"], 1, "netflow"),
        (["views", "cach_hits"], 1, "Did you mean cache_hits?"),
    ],
)  # fmt: skip
def test_errors_give_one_message_and_a_status(tapewise, arguments, status, message):
    result = tapewise(*arguments)
    assert result.returncode == status
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not result.stdout


def test_both_options_show_the_version(tapewise):
    assert (
        tapewise("-V").stdout == tapewise("--version").stdout == f"tapewise, version {version('tapewise')}\n"
    )


def test_a_traceback_is_only_shown_with_debug(tapewise):
    assert "Traceback" in tapewise("--debug", "formats", "netflow").stderr


def test_settings_of_a_source_with_rows_do_not_change(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(NFT)
    ingest(tapewise, "a.log", archive="fixed", zone="America/Los_Angeles")
    result = ingest(tapewise, "a.log", archive="fixed", zone="UTC")
    assert result.returncode == 1
    assert "has timezone America/Los_Angeles, not UTC" in result.stderr
    result = tapewise("ingest", "--archive", "fixed", "--format", "nft", "--timezone", "UTC", "a.log")
    assert "is synthetic, not measured" in result.stderr


def test_settings_of_a_failed_first_load_are_not_kept(tapewise, tmp_path):
    assert ingest(tapewise, "absent.log", archive="retry", zone="Europe/Berlin").returncode == 1
    (tmp_path / "a.log").write_text(NFT)
    assert ingest(tapewise, "a.log", archive="retry", zone="UTC").returncode == 0
    assert "retry (synthetic, UTC)" in tapewise("archives", "list").stdout


@pytest.mark.study("ingest", "schema", "tapewise")
def test_sql_prints_tables_csv_and_json(tapewise):
    query = (
        "SELECT * FROM (VALUES (1, 2.5::float8, 'a', NULL::text), (10, 1e-7::float8, 'b,c', 'd'))"
        " AS t (n, x, s, e)"
    )
    table = tapewise("sql", query).stdout.splitlines()
    assert table[0].split() == ["n", "x", "s", "e"]
    assert table[2].split() == ["1", "2.5", "a"]
    assert table[3].split() == ["10", "1e-07", "b,c", "d"]
    assert json.loads(tapewise("sql", query, "--json").stdout) == [
        {"n": 1, "x": 2.5, "s": "a", "e": None},
        {"n": 10, "x": 1e-7, "s": "b,c", "e": "d"},
    ]
    rows = list(csv.reader(io.StringIO(tapewise("sql", "--csv", query).stdout)))
    assert rows == [["n", "x", "s", "e"], ["1", "2.5", "a", ""], ["10", "1e-07", "b,c", "d"]]
    assert json.loads(tapewise("sql", "--json", "-", input="SELECT 1 AS a WHERE false").stdout) == []
    assert tapewise("sql", "--csv", "SELECT 1 AS a WHERE false").stdout == "a\n"


def test_sql_points_at_the_error(tapewise):
    result = tapewise("sql", "SELECT 1,\n  wrong")
    assert "line 2:   wrong" in result.stderr
    lines = result.stderr.splitlines()
    assert lines[2].index("^") == lines[1].index("wrong")


@pytest.mark.study("ingest", "schema", "tapewise")
def test_explain_leads_from_lines_to_rows_and_back(tapewise, tmp_path):
    (tmp_path / "a.log").write_text("\n" + HSI + "nonsense\n")
    (tmp_path / "copy.log").write_text(HSI)
    for name in ("a.log", "copy.log"):
        ingest(tapewise, name, archive="explained", log_format="hsi")
    assert "ignored: blank line" in tapewise("explain", "line", "a.log", "1").stdout
    loaded = tapewise("explain", "line", "a.log", "2").stdout
    assert "loaded into core.transfers" in loaded
    assert "secret-name" in loaded
    assert "rejected: not a line of this format" in tapewise("explain", "line", "a.log", "3").stdout
    held = tapewise("explain", "line", "copy.log", "1").stdout
    assert f"held: loaded from {tmp_path / 'a.log'}, line 2" in held
    assert tapewise("explain", "line", "a.log", "4").returncode == 1
    query = "SELECT transfer_id FROM mart.transfers WHERE archive = 'explained'"
    ((row_id,),) = [row.values() for row in json.loads(tapewise("sql", "--json", query).stdout)]
    back = tapewise("explain", "row", "transfers", str(row_id)).stdout
    assert f"{tmp_path / 'a.log'}, line 2" in back
    assert HSI.strip() in back


def test_formats_show_lines_and_their_records(tapewise):
    listed = tapewise("formats").stdout
    for name in ("nft", "pftp", "hsi", "cond", "stat"):
        assert f"\n{name}" in f"\n{listed}"
        shown = tapewise("formats", name).stdout
        assert ("persona" if name == "cond" else "size_bytes") in shown
        assert "event_at" in shown
        assert ("as of 1997-11-05" in shown) == (name == "cond")


@pytest.mark.study("ingest", "schema", "tapewise")
def test_lines_without_a_date_take_it_from_the_file_name_or_the_user(tapewise, tmp_path):
    for name in ("cond", "cond.980506", "cond.980506-980507"):
        (tmp_path / name).write_text(COND)
    refused = tapewise(
        "ingest", "--archive", "dated", "--kind", "synthetic", "--format", "cond", "--timezone", "UTC",
        "cond", "cond.980506", "cond.980506-980507",
    )  # fmt: skip
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        "tapewise: cond: the lines have no dates, and the name has no date whose year is certain",
        "tapewise: cond.980506-980507: the lines have no dates, and the name has several dates",
        "tapewise: 2 of 3 files not loaded.",
        "Give the date of each such file separately, --date 1998-05-05, or name it like cond.1998-05-05.log,"
        " or like cond.980505. --date-from says where many days come from.",
        "The others were read; see above.",
    ]
    assert refused.stdout.splitlines() == [
        "cond.980506: 1 line = 1 loaded + 0 held + 0 ignored + 0 rejected",
        "  as of 1998-05-06: the date in its name",
        "  loaded: 1 unitree job",
    ]
    for options in ([], ["--dry-run"]):
        other = ingest(tapewise, "cond", "--date", "1998-05-05", *options, archive="dated", log_format="cond")
        assert other.returncode == 1
        assert (
            f"cond: the same lines were already read with the date 1998-05-06 ({tmp_path / 'cond.980506'})"
            in other.stderr
        )
        assert "drop the archive" in other.stderr
    same = ingest(tapewise, "cond", "--date", "1998-05-06", archive="dated", log_format="cond")
    assert (same.returncode, same.stderr) == (0, "")
    assert "1 line = 0 loaded + 1 held" in same.stdout
    query = "SELECT path, log_date FROM mart.log_files WHERE archive = 'dated' ORDER BY log_file_id"
    assert json.loads(tapewise("sql", "--json", query).stdout) == [
        {"path": str(tmp_path / name), "log_date": "1998-05-06"} for name in ("cond.980506", "cond")
    ]
    assert "held: loaded from" in tapewise("explain", "line", "cond", "1").stdout
    query = "SELECT job_id, ended_at FROM mart.unitree_jobs WHERE archive = 'dated'"
    [job] = json.loads(tapewise("sql", "--json", query).stdout)
    assert job["ended_at"].startswith("1998-05-06")
    assert COND.strip() in tapewise("explain", "row", "unitree_jobs", str(job["job_id"])).stdout


@pytest.mark.study("ingest", "schema", "tapewise")
def test_an_archive_can_be_read_again_after_it_is_dropped(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(NFT)
    ingest(tapewise, "a.log", archive="dropped", zone="Europe/Berlin")
    assert tapewise("archives", "drop", "dropped").returncode == 1  # asks, but gets no answer
    assert "dropped' is dropped, 2 rows" in tapewise("archives", "drop", "dropped", "--yes").stdout
    assert "dropped" not in tapewise("archives", "list").stdout
    assert "2 loaded" in ingest(tapewise, "a.log", archive="dropped", zone="UTC").stdout


@pytest.mark.study("ingest", "schema", "tapewise")
def test_backup_and_restore(tapewise, tmp_path, home):
    (tmp_path / "a.log").write_text(NFT)
    ingest(tapewise, "a.log", archive="kept")
    assert tapewise("db", "backup", "all.dump").returncode == 0
    assert "already exists" in tapewise("db", "backup", "all.dump").stderr
    assert "already holds archives" in tapewise("db", "restore", "all.dump").stderr
    other = home / "restored"
    query = (
        "SELECT * FROM mart.activity(period => 'ten_minutes')"
        " ORDER BY archive, starts_at, interface, direction"
    )
    try:
        result = tapewise("--home", str(other), "db", "restore", "all.dump")
        assert result.returncode == 0, result.stderr
        assert (
            tapewise("--home", str(other), "sql", "--csv", query).stdout
            == tapewise("sql", "--csv", query).stdout
        )
        # New rows must not get the numbers of restored rows.
        (tmp_path / "b.log").write_text(NFT.replace("97/10", "97/11"))
        assert ingest(tapewise, "b.log", archive="kept").returncode == 0
    finally:
        tapewise("--home", str(other), "db", "stop")


def test_flags_override_environment_variables_which_override_the_file(tapewise, tmp_path, home):
    (tmp_path / "tapewise.toml").write_text('postgres_version = 17\nhome = "/nowhere"\n')
    result = tapewise("db", "stop")
    assert result.returncode == 2
    assert "setting 'postgres_version'" in result.stderr
    assert tapewise("db", "stop", env={"TAPEWISE_POSTGRES_VERSION": "18"}).returncode == 0
    (tmp_path / "tapewise.toml").write_text("home = \n")
    assert "tapewise.toml cannot be read" in tapewise("formats").stderr
    (tmp_path / "tapewise.toml").write_text('colour = "red"\n')
    assert "tapewise.toml: colour: no such key." in tapewise("formats").stderr


def test_an_unreachable_server_is_reported_without_its_password():
    result = run_command(
        ["sql", "SELECT 1"], env={"TAPEWISE_DATABASE_URL": "postgresql://u:hush@127.0.0.1:9/db",
                                  "TAPEWISE_READER_URL": "postgresql://r:hush@127.0.0.1:9/db"},
    )  # fmt: skip
    assert result.returncode == 1
    assert "cannot be reached" in result.stderr
    assert "hush" not in result.stderr


@pytest.mark.study("ingest", "schema", "tapewise")
def test_a_wrong_format_is_reported_and_not_kept(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(NFT)
    result = ingest(tapewise, "a.log", archive="wrong", log_format="hsi", zone="Europe/Berlin")
    assert result.returncode == 1
    assert "a.log: no line of it is in format hsi" in result.stderr
    assert "source 'hsi' of archive 'wrong' is not kept: no file was accepted" in result.stderr
    assert "wrong (" not in tapewise("archives", "list").stdout
    result = ingest(tapewise, "a.log", "--source", "hsi", archive="wrong")
    assert (result.returncode, "2 loaded" in result.stdout) == (0, True), result.stderr
    assert "wrong (synthetic, UTC)" in tapewise("archives", "list").stdout


@pytest.mark.study("ingest", "schema", "tapewise")
def test_a_refused_file_leaves_nothing(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(HSI)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(NFT.encode() * 1000)[:60])
    for name, zone in (("a.log", "UTC"), ("missing", "UTC"), ("cut.gz", "UTC"), ("a.log", "Mars/Olympus")):
        assert ingest(tapewise, name, archive="refused", zone=zone).returncode == 1
    assert tapewise("ingest", "--archive", "refused", "--timezone", "UTC", "missing").returncode == 1
    assert "refused" not in tapewise("archives", "list").stdout
    assert "refused" not in tapewise("doctor").stdout


def test_explain_row_does_not_show_the_line_of_another_file(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(HSI)
    ingest(tapewise, "a.log", archive="rotated", log_format="hsi")
    (tmp_path / "a.log").write_text(HSI.replace("secret-name", "other-name"))
    query = "SELECT transfer_id FROM mart.transfers WHERE archive = 'rotated'"
    ((row_id,),) = [row.values() for row in json.loads(tapewise("sql", "--json", query).stdout)]
    shown = tapewise("explain", "row", "transfers", str(row_id)).stdout
    assert "other-name" not in shown
    assert "was rotated" in shown


def test_a_home_given_by_flag_overrides_a_url_from_elsewhere(tapewise):
    url = "postgresql://nobody@127.0.0.1:9/nowhere"
    result = tapewise("archives", "list", env={"TAPEWISE_DATABASE_URL": url})
    assert (result.returncode, result.stderr) == (0, "")


def test_an_invalid_url_is_reported_without_repeating_it(tapewise):
    result = tapewise("--database-url", "mysql://u:hush@h/db", "archives", "list")
    assert "database_url is not a PostgreSQL URL" in result.stderr
    assert "hush" not in result.stderr


@pytest.mark.study("ingest", "schema", "tapewise")
def test_a_backup_is_private_to_its_owner(tapewise, tmp_path):
    assert tapewise("db", "upgrade").returncode == 0
    assert tapewise("db", "backup", "mine.dump").returncode == 0
    assert (tmp_path / "mine.dump").stat().st_mode & 0o077 == 0


def test_a_query_with_a_name_in_the_wrong_case_says_so(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(NFT)
    ingest(tapewise, "a.log", archive="spelt", log_format="nft")
    where = "archive = 'Spelt' AND direction = 'PUT' AND interface = 'NFT'"
    found = tapewise("sql", "--timezone", "UTC", f"SELECT * FROM mart.transfers WHERE {where}")
    notes = [("archive", "Spelt"), ("direction", "PUT"), ("interface", "NFT")]
    assert (found.returncode, found.stderr.splitlines()) == (
        0,
        [
            f"No {what} is called '{name}', but one is called '{name.lower()}': letters' case matters."
            for what, name in notes
        ],
    )
    # A query that always has rows.
    counted = tapewise("sql", "SELECT count(*) FROM mart.activity(archive => 'SPELT')")
    assert "No archive is called 'SPELT'" in counted.stderr


@pytest.mark.study("ingest", "schema", "tapewise")
def test_a_removed_warehouse_is_gone_and_can_be_created_again(tapewise, home):
    other = home / "removed"
    assert tapewise("--home", str(other), "archives", "list").returncode == 0
    cluster = (other / "postgresql-18").resolve()
    assert cluster.is_dir()
    assert tapewise("--home", str(other), "db", "remove").returncode == 1  # asks, but gets no answer
    assert cluster.is_dir()
    assert "is deleted" in tapewise("--home", str(other), "db", "remove", "--yes").stdout
    assert not cluster.exists()
    assert not (other / "postgresql-18").is_symlink()
    assert "holds no warehouse" in tapewise("--home", str(other), "db", "remove", "--yes").stdout
    # A query of a wrong home would otherwise look like a query of an archive without transfers.
    empty = tapewise("--home", str(other), "sql", "SELECT count(*) FROM mart.transfers")
    assert (empty.returncode, empty.stderr) == (0, f"The warehouse in {other} holds no archive yet.\n")
    assert tapewise("--home", str(other), "db", "remove", "--yes").returncode == 0


def test_a_load_cannot_change_the_settings_of_an_archive(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(NFT)
    assert ingest(tapewise, "a.log", archive="steady").returncode == 0
    result = tapewise(
        "ingest", "--archive", "steady", "--kind", "measured", "--source", "other", "--format", "nft",
        "--timezone", "Asia/Kathmandu", "a.log",
    )  # fmt: skip
    assert "is synthetic, not measured" in result.stderr
    assert "steady (synthetic, UTC)" in tapewise("archives", "list").stdout


@pytest.mark.parametrize("zone", ["CET", "posix/UTC", "localtime", "Europe/Atlantis", "", "../etc"])
def test_only_zones_that_mean_the_same_everywhere_are_accepted(tapewise, zone):
    result = tapewise(*INGEST, "--format", "nft", "--timezone", zone, "a.log")
    assert result.returncode == 1
    assert "no time zone is called" in result.stderr


def test_text_from_a_log_does_not_control_the_terminal(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(HSI.replace("secret-name", "\x1b]0;owned\x07\x9b31m"))
    ingest(tapewise, "a.log", archive="escapes", log_format="hsi")
    shown = tapewise("explain", "line", "a.log", "1").stdout
    assert r"\x1b]0;owned\x07\x9b31m" in shown
    assert not {"\x1b", "\x07", "\x9b"} & set(shown)
    table = tapewise("sql", "SELECT chr(27) || '[1m' AS \"[/x]\"").stdout
    assert "[/x]" in table
    assert r"\x1b[1m" in table


def test_output_that_cannot_be_encoded_is_escaped(tapewise):
    result = tapewise("sql", "SELECT 1 AS a", env={"PYTHONIOENCODING": "latin-1"})
    assert (result.returncode, result.stderr) == (0, "")
    assert r"\u2500" in result.stdout  # the line below the header


def test_libpq_variables_do_not_redirect_the_connection(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(HSI.replace("secret-name", "café"))
    variables = {"PGHOSTADDR": "127.0.0.1", "PGCLIENTENCODING": "LATIN1", "PGDATESTYLE": "SQL, DMY"}
    result = tapewise(
        "ingest", "--archive", "env", "--kind", "synthetic", "--format", "hsi", "--timezone", "UTC", "a.log",
        env=variables,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    assert "café" in tapewise("explain", "line", "a.log", "1", env=variables).stdout


def test_columns_with_the_same_name_are_told_apart(tapewise):
    assert json.loads(tapewise("sql", "--json", "SELECT 1 AS a, 2 AS a").stdout) == [{"a": 1, "a_2": 2}]


def test_a_name_too_long_for_an_index_rejects_only_its_line(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(HSI.replace("dtn1", "x" * 6000) + HSI)
    result = ingest(tapewise, "a.log", archive="long", log_format="hsi")
    assert "2 lines = 1 loaded + 0 held + 0 ignored + 1 rejected" in result.stdout
    assert "name of user or host too long" in result.stdout


@pytest.mark.study("ingest", "schema", "tapewise")
def test_a_file_of_another_source_is_refused_and_nothing_counts_twice(tapewise, tmp_path):
    lines = "Mon Nov 23 09:14:2{} 2020 1 10.0.0.1 7700 /a/b{} b _ i r kim ftp 0 * c\n"
    (tmp_path / "ftp.log").write_text("".join(lines.format(number, number) for number in range(4)))
    (tmp_path / "other.log").write_text("".join(lines.format(number, number) for number in range(4, 8)))
    (tmp_path / "copy.toml").write_text(tapewise("formats", "show", "xferlog").stdout)
    first = ingest(tapewise, "ftp.log", archive="once", log_format="xferlog")
    assert first.stdout.startswith("ftp.log: 4 lines = 4 loaded")
    (tmp_path / "ftp.log").rename(tmp_path / "ftp.log.1")
    refused = ingest(tapewise, "ftp.log.1", "other.log", archive="once", log_format="./copy.toml")
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[0] == (
        "tapewise: ftp.log.1: source 'xferlog' of the same archive holds lines of this file, read from"
        f" {tmp_path / 'ftp.log'}"
    )
    assert "would count twice" in refused.stderr
    assert refused.stdout.startswith("other.log: 4 lines = 4 loaded")
    query = "SELECT count(*) AS n FROM mart.transfers WHERE archive = 'once'"
    assert json.loads(tapewise("sql", "--json", query).stdout) == [{"n": 8}]


@pytest.mark.study("ingest", "schema", "tapewise")
def test_replacing_a_source_needs_a_new_setting_and_a_confirmation(tapewise, tmp_path):
    (tmp_path / "nft.log").write_text(NFT)
    ingest(tapewise, "nft.log", archive="replaced")
    command = ("sources", "replace", "replaced", "nft")
    assert tapewise(*command, "--yes").returncode == 2
    zone = ("--timezone", "Asia/Kathmandu")
    refused = tapewise(*command, *zone)
    assert refused.returncode == 1
    assert "stopped" in refused.stderr
    done = tapewise(*command, *zone, "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{tmp_path / 'nft.log'}: 2 lines = 2 loaded + 0 held + 0 ignored + 0 rejected",
        "  loaded: 2 transfers",
        "Source 'nft' of archive 'replaced' is replaced: 2 rows instead of 2.",
    ]
    (tmp_path / "nft.log").unlink()
    lost = tapewise(*command, "--timezone", "UTC", "--yes")
    assert lost.returncode == 1
    assert lost.stderr.startswith(
        "tapewise: files of source 'nft' of archive 'replaced' are gone or have changed:"
        f" {tmp_path / 'nft.log'} (gone)"
    )
    assert "Asia/Kathmandu" in tapewise("sources", "list").stdout


@pytest.mark.study("ingest", "schema", "tapewise")
@pytest.mark.parametrize(
    ("words", "found"),
    [("tapewise ing", "plain,ingest"), ("tapewise ingest --date-f", "plain,--date-from")],
)
def test_a_shell_can_complete_commands_and_options(tmp_path, words, found):
    place = str(len(words.split()) - 1)
    environment = {"COMP_WORDS": words, "COMP_CWORD": place, "_TAPEWISE_COMPLETE": "bash_complete"}
    done = run_command([], cwd=tmp_path, env=environment, input="")
    assert (done.stdout.splitlines(), done.stderr) == ([found], "")
    source = run_command([], cwd=tmp_path, env={"_TAPEWISE_COMPLETE": "bash_source"}, input="")
    assert "complete -o nosort -F _tapewise_completion tapewise" in source.stdout
