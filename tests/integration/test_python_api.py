"""The public interface in Python, on a database."""

import threading
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl
import psycopg
import pytest

import tapewise
from tapewise.accepted_words import list_accepted
from tapewise.mart_calls import read_arguments, read_objects
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import (
    DatabaseError,
    FormatError,
    LogFileError,
    QueryError,
    SettingsError,
    SourceError,
)
from tests.conftest import NOW
from tests.unit.layouts.made_up import SITE

pytestmark = pytest.mark.study("ingest", "sql", "tapewise")

LOGS = Path(__file__).resolve().parents[2] / "examples" / "logs"
HSI = LOGS / "hsi.log"
ZONE = "America/Los_Angeles"


@pytest.fixture
def connection(warehouse: Warehouse) -> Iterator[tapewise.Connection]:
    with tapewise.Connection(warehouse, ZONE) as made:
        yield made


def ingest(connection: tapewise.Connection, paths, **options) -> list[tapewise.LoadedFile]:
    given = {"archive": "lab", "timezone": ZONE, "kind": "synthetic", "now": NOW} | options
    return connection.ingest(paths, **given)


def test_lines_behind_syslog_are_loaded_once(connection: tapewise.Connection, tmp_path: Path):
    lines = HSI.read_bytes().splitlines(keepends=True)[:40]
    (tmp_path / "plain").write_bytes(b"".join(lines))
    (tmp_path / "behind").write_bytes(b"".join(b"mover1 hsi: " + line for line in lines))
    [found] = ingest(connection, tmp_path / "behind", strip="[^ ]+ hsi: ")
    assert (found.format, found.loaded_count) == ("hsi", 40)
    [again] = ingest(connection, tmp_path / "plain", strip="[^ ]+ hsi: ")
    assert (again.loaded_count, again.held_count) == (0, 40)
    with pytest.raises(SourceError, match="would be counted twice"):
        ingest(connection, tmp_path / "plain")
    with pytest.raises(FormatError, match="not a valid regular expression"):
        ingest(connection, tmp_path / "plain", strip="(")


def test_an_archive_of_files_means_the_files_in_it(connection: tapewise.Connection, tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        for name in ("a", "b"):
            archive.write(HSI, name)
    found = ingest(connection, tmp_path / "logs.zip", format="hsi")
    assert [each.path.name for each in found] == ["a", "b"]
    assert found[0].loaded_count == found[1].held_count > 0
    in_archive, on_disk = (
        tapewise.read_log(path, timezone=ZONE, now=NOW).records for path in (tmp_path / "logs.zip" / "b", HSI)
    )
    assert in_archive.equals(on_disk)


def test_days_of_files_come_from_where_date_from_says(connection: tapewise.Connection, tmp_path: Path):
    path = tmp_path / "2019" / "03" / "05" / "job.out"
    path.parent.mkdir(parents=True)
    path.write_text("put  'a' : '/home/u/a' ( 1024000000 bytes, 250138.1 KBS (cos=11))\n")
    pattern = "(?P<year>[0-9]{4})/(?P<month>[0-9]{2})/(?P<day>[0-9]{2})/"
    [undated] = ingest(connection, path, format="hsi-client")
    assert undated.error is not None
    [dated] = ingest(connection, path, format="hsi-client", date_from=pattern)
    assert (dated.loaded_count, dated.log_date) == (1, date(2019, 3, 5))
    for options, reason in (
        ({"date_from": "("}, "date_from is not a valid pattern"),
        ({"date_from": "mtime", "date": date(2019, 3, 5)}, "it and date_from exclude each other"),
    ):
        with pytest.raises(SettingsError, match=reason):
            ingest(connection, path, format="hsi-client", **options)


def test_a_log_is_loaded_once_and_queried(connection: tapewise.Connection):
    [loaded] = ingest(connection, HSI)
    assert (loaded.path, loaded.format, loaded.error) == (HSI, "hsi", None)
    assert (loaded.line_count, loaded.loaded_count, loaded.held_count) == (3979, 3966, 0)
    assert (loaded.ignored_count, loaded.rejected_count) == (2, 11)
    assert loaded.rejected_samples[0][:2] == (288, "not a line of this format")
    [again] = ingest(connection, [str(HSI)])
    assert (again.loaded_count, again.held_count) == (0, 3966)

    hits = connection.mart.cache_hits(archive="lab", grouped_by="interface").sort("interface")
    assert hits.select("interface", "get_count", "cached_count").rows() == [
        ("hsi", 1105, 919),
        ("htar", 64, 0),
    ]
    assert connection.mart.cache_hits(archive="other").height == 0
    assert connection.mart.cache_hits(archive="other").schema == hits.schema
    same = connection.sql("SELECT * FROM mart.cache_hits(archive => %s, grouped_by => 'interface')", ["lab"])
    assert same.sort("interface").equals(hits)


def test_the_records_of_a_log_are_those_that_are_loaded(connection: tapewise.Connection):
    ingest(connection, HSI)
    # After reading the file, the warehouse moves some records of the hour repeated when clocks go back.
    columns = ["direction", "size_bytes", "is_failed", "is_time_ambiguous"]
    loaded = connection.mart.transfers(archive="lab", is_time_ambiguous=False).select("ended_at", *columns)
    read = tapewise.read_log(HSI, timezone=ZONE, now=NOW).records.filter(
        table="transfers", is_time_ambiguous=False
    )
    read = read.select(pl.col("event_at").alias("ended_at"), *columns)
    assert 3300 < read.height <= 3406
    assert read.sort(pl.all()).equals(loaded.sort(pl.all()))


def test_views_are_filtered_by_their_columns(connection: tapewise.Connection):
    ingest(connection, HSI)
    cells = connection.mart.day_cells(archive="lab", direction="put", interface=["hsi", "htar"])
    assert set(cells["interface"]) == {"hsi", "htar"}
    assert set(cells["direction"]) == {"put"}
    one = connection.mart.day_cells(direction="put", starts_on=date(1998, 10, 19), interface=None)
    assert one.equals(connection.mart.day_cells(direction="put", starts_on="1998-10-19"))
    assert 0 < one.height < cells.height
    assert connection.mart.day_cells(direction=[]).height == 0


def test_times_without_a_zone_are_in_the_zone_of_the_connection(
    warehouse: Warehouse, connection: tapewise.Connection
):
    ingest(connection, HSI)
    there = tapewise.Connection(warehouse, "UTC")
    for since in ("1998-10-25", date(1998, 10, 25), datetime(1998, 10, 25)):
        here = connection.mart.daily_activity(since=since)
        assert here.equals(connection.mart.daily_activity(since=datetime(1998, 10, 25, 7, tzinfo=UTC)))
        assert there.mart.daily_activity(since=since).equals(
            there.mart.daily_activity(since=datetime(1998, 10, 25, 0, tzinfo=UTC))
        )
    times = [each.sql("SELECT TIMESTAMPTZ '1998-10-24 08:00' AS at")["at"] for each in (connection, there)]
    assert [at.dtype for at in times] == [pl.Datetime("us", ZONE), pl.Datetime("us", "UTC")]
    assert times[0][0].astimezone(UTC) - times[1][0] == timedelta(hours=7)


def test_each_type_has_a_column_type_of_its_own(connection: tapewise.Connection):
    query = """
        SELECT true AS bool, 1::smallint AS int2, 2 AS int4, 3::bigint AS int8, 0.5::real AS float4,
            0.25::float8 AS float8, 10::numeric ^ 20 AS numeric, 'x' AS text, DATE '1998-10-18' AS date,
            TIME '08:00' AS time, TIMESTAMP '1998-10-18 08:00' AS local, INTERVAL '1 day 1 s' AS interval,
            '\\x00ff'::bytea AS bytes, '{"a": [1]}'::jsonb AS json, ARRAY[1.5, NULL] AS numbers,
            ARRAY['a', 'b'] AS texts, 'mart'::regnamespace AS other, NULL AS nothing, NULL::bigint AS nothing
    """
    frame = connection.sql(query)
    assert frame.schema == {
        "bool": pl.Boolean, "int2": pl.Int16, "int4": pl.Int32, "int8": pl.Int64, "float4": pl.Float32,
        "float8": pl.Float64, "numeric": pl.Float64, "text": pl.String, "date": pl.Date, "time": pl.Time,
        "local": pl.Datetime("us"), "interval": pl.Duration("us"), "bytes": pl.Binary, "json": pl.String,
        "numbers": pl.List(pl.Float64), "texts": pl.List(pl.String), "other": pl.String,
        "nothing": pl.String, "nothing_2": pl.Int64,
    }  # fmt: skip
    [row] = frame.rows(named=True)
    assert (row["numeric"], row["interval"], row["bytes"]) == (
        1e20,
        timedelta(days=1, seconds=1),
        b"\x00\xff",
    )
    assert (row["json"], row["numbers"], row["other"]) == ('{"a": [1]}', [1.5, None], "mart")
    assert connection.sql(f"{query} LIMIT 0").schema == frame.schema


def test_results_of_several_batches_keep_their_order(
    connection: tapewise.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tapewise.frames.BATCH_ROWS", 7)
    numbers = connection.sql("SELECT number FROM generate_series(1, %(last)s) AS number", {"last": 20})
    assert numbers["number"].to_list() == list(range(1, 21))


@pytest.mark.parametrize("name", sorted(read_objects()))
def test_each_view_and_function_is_called_as_its_metadata_says(
    connection: tapewise.Connection, warehouse: Warehouse, database: psycopg.Connection, name: str
):
    each = read_objects()[name]
    if each.metadata.kind == "function":
        rows = database.execute(
            """
            SELECT argument.name, format_type(argument.type, NULL), place > pronargs - pronargdefaults
            FROM pg_proc,
                unnest(coalesce(proallargtypes, proargtypes::oid[]), proargnames, proargmodes::text[])
                WITH ORDINALITY AS argument (type, name, mode, place)
            WHERE pronamespace = 'mart'::regnamespace AND proname = %s AND coalesce(argument.mode, 'i') = 'i'
            ORDER BY place
            """,
            [name],
        ).fetchall()
        arguments = read_arguments(each)
        full = {"timestamptz": "timestamp with time zone", "timestamptz[]": "timestamp with time zone[]"}
        declared = [(one.name, full.get(one.type, one.type), not one.is_required) for one in arguments]
        assert declared == rows
        values = {
            "text": "x", "timestamp with time zone": NOW, "double precision": 0.5, "bigint": 1, "integer": 1,
            "boolean": True, "numeric": 0.5, "date": NOW.date(), "jsonb": "{}",
        }  # fmt: skip
        given = {name: _example(type_, values) for name, type_, _ in rows}
        given |= {"timezone": "UTC"} if "timezone" in given else {}
        words = {argument: accepted[0] for argument, accepted in list_accepted(each).items()}
        given |= {
            argument: _example(type_, values | {"text": words[argument]})
            for argument, type_, _ in rows
            if argument in words and type_.startswith("text")
        }
    else:
        given = {}
    call = getattr(connection.mart, name)
    if "tapewise_reader" not in each.metadata.grants:
        with pytest.raises(QueryError, match="permission denied") as refused:
            call(**given)
        assert "with_names=True" in refused.value.hint
        call = getattr(tapewise.Connection(warehouse, ZONE, with_names=True).mart, name)
    frame = call(**given)
    assert frame.columns == list(each.metadata.columns or [name])
    if each.metadata.kind == "view" and frame.width:
        assert call(**dict.fromkeys(frame.columns)).schema == frame.schema


def _example(type_: str, values: dict[str, object]) -> object:
    if type_.endswith("[]"):
        return [values[type_.removesuffix("[]")]]
    return values[type_]


@pytest.mark.parametrize(
    ("query", "parameters", "message"),
    [
        ("SELECT 1; SELECT 2", None, "a query must be a single statement"),
        ("", None, "the query is empty"),
        ("-- nothing", [], "the query is empty"),
        ("SELECT * FROM core.users", None, "permission denied for schema core"),
        ("CREATE TABLE mine (x int)", None, "read-only transaction"),
        ("SELECT\n  %s + x", [1], r'column "x" does not exist\n  line 2:   \$1 \+ x\n +\^$'),
        ("SELECT %s", {"a": 1}, "cannot be converted"),
        ("SELECT %s", [], "placeholder"),
        ("SELECT TIMESTAMPTZ 'infinity'", None, "timestamp too large"),
        ("SELECT ARRAY[[1, 2], [3, 4]]", None, "cannot be converted"),
    ],
)
def test_a_query_that_fails_is_a_query_error(connection: tapewise.Connection, query, parameters, message):
    with pytest.raises(QueryError, match=message):
        connection.sql(query, parameters)
    assert connection.sql("SELECT 1 AS one").rows() == [(1,)]


def test_a_parameter_is_never_sql(connection: tapewise.Connection):
    wicked = "lab'; DROP SCHEMA mart; --"
    assert connection.sql("SELECT %s AS text, '100%%' AS share", [wicked]).rows() == [(wicked, "100%")]
    assert connection.mart.archives(archive=wicked).height == 0
    assert connection.mart.cache_hits(archive=wicked).height == 0
    assert connection.sql("SELECT '100%' AS share").rows() == [("100%",)]


def test_several_threads_query_at_the_same_time(connection: tapewise.Connection):
    found = []

    def query(number: int) -> None:
        found.append(
            connection.sql("SELECT %s::int AS number, pg_sleep(0.05) IS NULL", [number])["number"][0]
        )

    threads = [threading.Thread(target=query, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(8))


def test_a_file_that_cannot_be_loaded_does_not_stop_the_others(
    connection: tapewise.Connection, tmp_path: Path
):
    empty = tmp_path / "empty.log"
    empty.touch()
    missing = tmp_path / "missing.log"
    prose = tmp_path / "prose.log"
    prose.write_text("This is no log.\n" * 20)
    results = ingest(connection, [missing, empty, HSI, prose, HSI])
    assert [file.path for file in results] == [missing, empty, HSI, prose]
    assert [type(file.error) for file in results] == [LogFileError, type(None), type(None), LogFileError]
    assert [file.format for file in results] == [None, None, "hsi", None]
    assert results[2].loaded_count == 3966


def test_a_source_without_a_line_of_its_format_is_not_kept(
    connection: tapewise.Connection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    prose = tmp_path / "prose.log"
    prose.write_text("This is no log.\n" * 20)
    [result] = ingest(connection, [prose], format="hsi")
    assert isinstance(result.error, LogFileError)
    assert (result.line_count, result.rejected) == (20, {"not a line of this format": 20})
    assert connection.mart.archives().height == 0


def test_a_dry_run_writes_nothing(connection: tapewise.Connection):
    [loaded] = ingest(connection, HSI, dry_run=True)
    assert loaded.loaded_count == 3966
    assert connection.mart.archives().height == 0
    assert ingest(connection, []) == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "simulated"}, SettingsError, "kind is 'simulated', not measured or synthetic"),
        ({"archive": " "}, SettingsError, "is not a name"),
        ({"format": "nope"}, FormatError, "no log format is called 'nope'"),
        ({"timezone": "PST"}, SourceError, "no time zone is called 'PST'"),
        ({"date": date(1998, 10, 18)}, SettingsError, "lines of format hsi have dates"),
        ({"jobs": 0}, SettingsError, "jobs is 0"),
        ({"now": datetime(2026, 1, 1)}, SettingsError, "'now' has no time zone"),
        ({"pseudonymise": True}, SettingsError, "pseudonym"),
    ],
)
def test_what_cannot_be_loaded_is_refused(connection: tapewise.Connection, options, error, message):
    with pytest.raises(error, match=message):
        ingest(connection, HSI, **options)
    assert connection.mart.archives().height == 0


def test_a_closed_connection_says_so(warehouse: Warehouse):
    connection = tapewise.Connection(warehouse)
    with connection:
        assert connection.sql("SELECT 1 AS one").height == 1
    connection.close()
    with pytest.raises(DatabaseError, match="this connection was closed"):
        connection.sql("SELECT 1 AS one")
    with pytest.raises(DatabaseError, match="this connection was closed"):
        ingest(connection, HSI)


def test_settings_are_checked_before_anything_starts(tmp_path: Path):
    with pytest.raises(SourceError, match="no time zone is called 'here'"):
        tapewise.connect(home=tmp_path / "home", timezone="here")
    with pytest.raises(SettingsError, match="there is no such file"):
        tapewise.connect(config=tmp_path / "missing.toml")
    assert not (tmp_path / "home").exists()
    with pytest.raises(DatabaseError, match="cannot be reached"):
        tapewise.connect(database_url="postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(SettingsError, match="reader_url is not a PostgreSQL URL"):
        tapewise.connect(reader_url="not a url").sql("SELECT 1")


def test_each_connection_knows_the_layouts_of_its_own_folder(warehouse: Warehouse, tmp_path: Path):
    layouts = tmp_path / "layouts"
    layouts.mkdir()
    (layouts / "own-mover.toml").write_text(SITE)
    log = tmp_path / "mover.log"
    log.write_text("2024-03-05 09:14:22 put kim n7 12.5 1024 /home/k/a 7\n")
    settings = warehouse.settings.model_copy(update={"layouts": layouts})
    knowing = Warehouse(settings, warehouse.server, warehouse.database)
    with tapewise.Connection(knowing, ZONE) as first, tapewise.Connection(warehouse, ZONE) as second:
        [found] = ingest(first, log)
        assert (found.format, found.loaded_count) == ("own-mover", 1)
        with pytest.raises(FormatError, match="no log format is called 'own-mover'"):
            ingest(second, log, format="own-mover")
        [again] = ingest(first, log, format="own-mover")
        assert (again.loaded_count, again.held_count) == (0, 1)
