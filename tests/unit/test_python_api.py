"""The part of the public Python interface that needs no database."""

import gzip
import importlib.util
import inspect
import keyword
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest
from psycopg import sql

import tapewise
from tapewise.frames import _number_placeholders
from tapewise.ingest.formats import registry
from tapewise.mart import Mart
from tapewise.mart_calls import build_query, make_call, names_of, read_arguments, read_objects
from tapewise.schema.errors import (
    FormatError,
    LogFileError,
    MachineError,
    MissingExtraError,
    QueryError,
    SettingsError,
    SourceError,
    TraceError,
    UnknownViewError,
)
from tapewise.simulator.machines import read_machine_text
from tests import session_format
from tests.unit.layouts.made_up import SITE

TREE = Path(__file__).resolve().parents[2]
LOGS = TREE / "examples" / "logs"
HSI = LOGS / "hsi.log"
ZONE = "America/Los_Angeles"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_all_names_the_public_interface():
    for name in tapewise.__all__:
        assert getattr(tapewise, name).__doc__, name
    assert set(tapewise.__all__) == set(tapewise._MODULES)
    assert set(tapewise.__all__) <= set(dir(tapewise))
    with pytest.raises(AttributeError, match="no attribute 'ingest_all'"):
        tapewise.ingest_all  # noqa: B018


def test_importing_the_package_imports_nothing_else():
    code = "import sys, tapewise; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=TREE, check=True, capture_output=True, text=True)
    loaded = done.stdout.split()
    assert "tapewise" in loaded
    assert not [name for name in loaded if name.startswith(("tapewise.", "polars", "click"))]


def test_every_line_of_a_log_is_in_one_frame():
    log = tapewise.read_log(HSI, timezone=ZONE, now=NOW)
    lines = HSI.read_bytes().count(b"\n")
    numbers = pl.concat([frame["line_number"] for frame in (log.records, log.ignored, log.rejected)])
    assert numbers.sort().to_list() == list(range(1, lines + 1))
    assert (log.format, log.line_count, log.waiting_bytes, log.log_date) == ("hsi", lines, 0, None)
    assert (log.ignored.height, log.rejected.height) == (2, 11)
    assert log.ignored["reason"].unique().to_list() == ["blank line"]
    texts = HSI.read_bytes().decode(errors="backslashreplace").split("\n")
    assert log.rejected["text"].to_list() == [texts[number - 1] for number in log.rejected["line_number"]]
    assert set(log.rejected["reason"]) >= {"not a line of this format", "no such date or time"}
    assert "3,966 read + 2 ignored + 11 rejected" in repr(log)


def test_the_times_of_a_log_are_read_in_its_zone():
    here, there = (
        tapewise.read_log(HSI, timezone=zone, now=NOW).records["event_at"] for zone in (ZONE, "UTC")
    )
    assert (here.dtype, there.dtype) == (pl.Datetime("us", ZONE), pl.Datetime("us", "UTC"))
    assert here[0].replace(tzinfo=None) == there[0].replace(tzinfo=None)
    assert (here[0] - there[0]).total_seconds() == 7 * 3600


def test_a_compressed_log_gives_the_same_records(tmp_path: Path):
    copy = tmp_path / "hsi.log.gz"
    copy.write_bytes(gzip.compress(HSI.read_bytes()))
    plain, packed = (tapewise.read_log(path, timezone=ZONE, now=NOW) for path in (HSI, copy))
    assert plain.records.equals(packed.records)
    assert plain.rejected.equals(packed.rejected)


def test_all_logs_have_the_same_columns(tmp_path: Path):
    empty = tmp_path / "empty.log"
    empty.touch()
    first = tapewise.read_log(HSI, timezone=ZONE, now=NOW)
    for path, name in ((LOGS / "nft.log", "nft"), (LOGS / "pftp.log.gz", "pftp"), (empty, "hsi")):
        other = tapewise.read_log(path, format=name, timezone=ZONE, now=NOW)
        assert other.records.schema == first.records.schema
        assert other.rejected.schema == first.rejected.schema
    assert other.line_count == other.records.height == 0


def test_an_unfinished_last_line_waits(tmp_path: Path):
    path = tmp_path / "hsi.log"
    lines = HSI.read_bytes().splitlines(keepends=True)[:40]
    path.write_bytes(b"".join(lines).rstrip(b"\n"))
    waiting = tapewise.read_log(path, format="hsi", timezone=ZONE, now=NOW)
    assert (waiting.line_count, waiting.waiting_bytes) == (39, len(lines[-1]) - 1)
    whole = tapewise.read_log(path, format="hsi", timezone=ZONE, complete=True, now=NOW)
    assert (whole.line_count, whole.waiting_bytes) == (40, 0)


def test_what_syslog_writes_before_lines_is_removed(tmp_path: Path):
    lines = HSI.read_bytes().splitlines(keepends=True)[:40]
    for name, prefix in (("plain", b""), ("behind", b"<13>mover1 hsi: ")):
        (tmp_path / name).write_bytes(b"".join(prefix + line for line in lines))
    plain = tapewise.read_log(tmp_path / "plain", timezone=ZONE, now=NOW)
    for format_name in (None, "hsi"):
        strip = "<[0-9]+>[^ ]+ hsi: "
        behind = tapewise.read_log(
            tmp_path / "behind", format=format_name, timezone=ZONE, strip=strip, now=NOW
        )
        assert behind.records.equals(plain.records)
        assert behind.rejected.equals(plain.rejected)
    for wrong in ("(", "x*"):
        with pytest.raises(FormatError):
            tapewise.read_log(tmp_path / "behind", timezone=ZONE, strip=wrong, now=NOW)


def test_lines_without_a_date_get_that_of_the_file(tmp_path: Path):
    dated = sorted(LOGS.glob("cond.*"))[0]
    log = tapewise.read_log(dated, format="cond", timezone=ZONE, now=NOW)
    assert log.log_date is not None
    undated = tmp_path / "jobs.log"
    undated.write_bytes(dated.read_bytes())
    with pytest.raises(LogFileError, match="lines have no dates"):
        tapewise.read_log(undated, format="cond", timezone=ZONE, now=NOW)
    given = tapewise.read_log(undated, format="cond", timezone=ZONE, date=log.log_date, now=NOW)
    assert given.records.equals(log.records)


def test_lines_dated_after_tomorrow_are_rejected():
    early = datetime(1998, 10, 20, tzinfo=UTC)
    late = tapewise.read_log(HSI, timezone=ZONE, now=early)
    assert late.records["event_at"].max() < datetime(1998, 10, 21, tzinfo=UTC)
    assert "time outside the source's window" in set(late.rejected["reason"])


def test_further_facts_of_a_line_follow_its_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(registry.FORMATS, "session", session_format.SESSIONS)
    path = tmp_path / "session.log"
    path.write_text("".join(f"{line}\n" for line in session_format.SESSIONS.examples))
    log = tapewise.read_log(path, format="session", now=datetime(2026, 4, 1, tzinfo=UTC))
    assert log.line_count == 1
    assert log.records["line_number"].to_list() == [1, 1, 1]
    assert log.records["event_at"].is_null().sum() == 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"format": "nope"}, FormatError, "no log format is called 'nope'"),
        ({"timezone": "Mars/Olympus"}, SourceError, "no time zone is called 'Mars/Olympus'"),
        ({"date": date(1998, 10, 18)}, SettingsError, "lines of format hsi have dates"),
        ({"now": datetime(2026, 1, 1)}, SettingsError, "'now' has no time zone"),
    ],
)
def test_what_a_log_cannot_be_read_with_is_refused(options, error, message):
    with pytest.raises(error, match=message) as refused:
        tapewise.read_log(HSI, **options)
    assert isinstance(refused.value, tapewise.TapewiseError)


def test_a_file_that_is_no_log_is_refused(tmp_path: Path):
    with pytest.raises(LogFileError, match="No such file"):
        tapewise.read_log(tmp_path / "missing.log")
    (tmp_path / "prose.txt").write_text("This is no log.\n" * 50)
    with pytest.raises(LogFileError, match="no format detected"):
        tapewise.read_log(tmp_path / "prose.txt")
    (tmp_path / "empty.log").touch()
    with pytest.raises(LogFileError, match="no whole line"):
        tapewise.read_log(tmp_path / "empty.log")


@pytest.mark.parametrize("name", sorted(read_objects()))
def test_each_view_and_function_has_the_arguments_of_its_metadata(name: str):
    each = read_objects()[name]
    call = make_call(each, pl.DataFrame)
    assert call.__name__ == name
    expected = each.metadata.arguments if each.metadata.kind == "function" else each.metadata.columns
    assert list(inspect.signature(call).parameters) == list(expected) == names_of(each)
    assert not [argument for argument in expected if keyword.iskeyword(argument)]
    for argument in expected:
        assert f"    {argument}: " in call.__doc__
    if each.metadata.kind == "function":
        assert [argument.name for argument in read_arguments(each)] == list(expected)


def test_values_are_never_part_of_the_query():
    wicked = "x'; DROP SCHEMA mart; --"
    for name in ("cache_hits", "transfers"):
        query, parameters = build_query(read_objects()[name], {"archive": wicked, "interface": None})
        assert wicked not in query.as_string()
        assert parameters == [wicked]
    query, parameters = build_query(read_objects()["transfers"], {"direction": ["put", wicked]})
    assert query.as_string() == """SELECT * FROM "mart"."transfers" WHERE true AND "direction" IN (%s, %s)"""
    assert parameters == ["put", wicked]
    query, parameters = build_query(read_objects()["transfers"], {"direction": []})
    assert query.as_string().endswith("WHERE true AND false")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (
            "cache_hits",
            {"archiv": "lab"},
            "mart.cache_hits has no argument 'archiv'; did you mean 'archive'?",
        ),
        ("transfers", {"colour": "red"}, "mart.transfers has no argument 'colour'"),
        ("f_quantile", {"probability": 0.5}, "mart.f_quantile needs numerator_df, denominator_df"),
        (
            "f_quantile",
            {"probability": None},
            "mart.f_quantile needs probability, numerator_df, denominator_df",
        ),
    ],
)
def test_wrong_arguments_are_refused(name, arguments, message):
    with pytest.raises(QueryError) as refused:
        build_query(read_objects()[name], arguments)
    assert refused.value.message == message
    assert refused.value.hint.startswith("Its arguments are ")


def test_unknown_views_and_positions_are_refused():
    def ask(query: sql.Composed, parameters: list) -> pl.DataFrame:
        raise AssertionError("nothing is asked")

    mart = Mart(ask)
    assert dir(mart) == sorted(read_objects())
    assert not hasattr(mart, "cache_hit")
    assert not hasattr(mart, "_repr_html_")
    with pytest.raises(UnknownViewError, match="'cache_hit'; did you mean 'cache_hits'"):
        mart.cache_hit()
    with pytest.raises(QueryError, match="by name only"):
        mart.cache_hits("lab")


def test_errors_point_into_the_query_as_the_server_sees_it():
    assert _number_placeholders("a = %s AND b LIKE 'x%%' AND c = %s") == "a = $1 AND b LIKE 'x%' AND c = $2"
    assert _number_placeholders("%(b)s %(a)s %(b)s") == "$1 $2 $1"


def load_script(name: str):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", TREE / "docs" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stub_for_editors_is_up_to_date():
    stub = load_script("stub")
    assert stub.STUB.read_text() == stub.describe_stub(), "tapewise/mart.pyi is old: run `make docs`"


TRACE = pl.DataFrame(
    {
        "submitted_s": [0.0, 10.0, 20.0],
        "direction": ["put", "get", "get"],
        "user": [1, 1, 2],
        "file": [1, 1, 2],
        "size_bytes": [10**6, 10**6, 2 * 10**6],
    }
)


def test_a_trace_runs_without_a_database(tmp_path: Path):
    run = tapewise.simulate("llnl-unitree-1998", TRACE, seed=1)
    assert run.jobs["is_staged"].to_list() == [False, False, True]
    assert run.jobs["ended_s"].null_count() == 0
    assert run.totals.unfinished_count == 0
    TRACE.write_parquet(tmp_path / "trace.parquet")
    machine = tmp_path / "mine.toml"
    machine.write_text(read_machine_text("llnl-unitree-1998"))
    again = tapewise.simulate(machine, tmp_path / "trace.parquet", seed=1)
    assert again.jobs.equals(run.jobs)
    assert again.samples.equals(run.samples)
    # Another seed puts the file on another tape chain.
    assert tapewise.simulate("llnl-unitree-1998", TRACE, seed=2).totals.moved_bytes != run.totals.moved_bytes


def test_the_origin_of_a_trace_puts_files_on_disk():
    trace = TRACE.with_columns(origin=pl.Series(["put", "trace", "disk"]))
    run = tapewise.simulate("llnl-unitree-1998", trace, seed=1)
    assert run.jobs["is_staged"].to_list() == [False, False, False]
    nothing = pl.DataFrame(schema={"file": pl.Int64, "size_bytes": pl.Int64, "age_s": pl.Float64})
    run = tapewise.simulate("llnl-unitree-1998", trace, seed=1, inventory=nothing)
    assert run.jobs["is_staged"].to_list() == [False, False, True]


def test_what_cannot_be_simulated_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(MachineError, match="No such file"):
        tapewise.simulate("cray", TRACE, seed=1)
    with pytest.raises(TraceError, match="No such file"):
        tapewise.simulate("llnl-unitree-1998", tmp_path / "none.parquet", seed=1)
    with pytest.raises(TraceError, match="no column user"):
        tapewise.simulate("llnl-unitree-1998", TRACE.drop("user"), seed=1)
    monkeypatch.delitem(sys.modules, "tapewise.simulator.runs", raising=False)
    monkeypatch.delitem(sys.modules, "tapewise.simulator.kernel.events", raising=False)
    for name in [name for name in sys.modules if name.startswith("tapewise.simulator.kernel.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtraError, match="package numba"):
        tapewise.simulate("llnl-unitree-1998", TRACE, seed=1)


def test_read_log_knows_the_layouts_of_a_site(tmp_path, monkeypatch):
    folder = tmp_path / "layouts"
    folder.mkdir()
    (folder / "own-mover.toml").write_text(SITE)
    log = tmp_path / "mover.log"
    log.write_text("2024-03-05 09:14:22 put kim n7 12.5 1024 /home/k/a 7\n")
    for name in (None, "own-mover"):
        assert tapewise.read_log(log, format=name, layouts=folder).format == "own-mover"
    with pytest.raises(FormatError, match="no log format is called 'own-mover'"):
        tapewise.read_log(log, format="own-mover")
    (tmp_path / "tapewise.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    assert tapewise.read_log(log).format == "own-mover"
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TAPEWISE_LAYOUTS", str(folder))
    assert tapewise.read_log(log).format == "own-mover"
