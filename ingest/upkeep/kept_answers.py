"""Computes and keeps the answers of functions of `mart` that take long, for all time of each archive.

`kept` in the metadata of a function lists its calls. An answer is computed by the reading role, or, if its
rows have names, by a reader who sees names, and stored by the loading role, which cannot read `mart`.
`mart.archive_states` says what an archive held in the snapshot of the answer; a function returns the answer
as long as that is the same.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

import psycopg
from psycopg import errors, sql
from psycopg.rows import args_row

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError
from tapewise.schema.tables.mart import read_mart
from tapewise.schema.tables.mart_answers import name_computed, write_key
from tapewise.schema.tables.mart_metadata import Metadata
from tapewise.schema.tables.mart_signatures import Signature, read_signature

# Of fewer rows, each of these functions is computed within two seconds.
LEAST_ROWS = 200_000
# An answer is one value of the database, and one of more rows would not be read quickly either.
MOST_ROWS = 100_000


@dataclass(frozen=True)
class Call:
    """A call of a function for all of an archive. `given` is SQL, by argument."""

    archive: str
    function: str
    given: tuple[tuple[str, str], ...] = ()

    def describe(self) -> str:
        """Write the call as in a query."""
        return f"{self.function}({', '.join(f'{name} => {value}' for name, value in self.given)})"


@dataclass(frozen=True)
class KeptAnswer:
    """A call whose answer was computed. More than MOST_ROWS rows are not counted, and not kept."""

    call: Call
    row_count: int
    took_s: float

    @property
    def is_kept(self) -> bool:
        """Whether the answer was stored."""
        return self.row_count <= MOST_ROWS


@cache
def _read_functions() -> Mapping[str, tuple[Signature, Metadata]]:
    return {each.name: (read_signature(each), each.metadata) for each in read_mart() if each.metadata.kept}


def find_stale_calls(
    warehouse: Warehouse, archive: str | None, *, least_rows: int = LEAST_ROWS
) -> list[Call]:
    """Return the calls whose answers are missing or out of date, of archives with so many rows.

    On a site's own server, calls whose rows have names are left out unless the login of `reader_url` sees
    names.
    """
    stale = _find_stale(warehouse, archive, least_rows)
    if any(map(_has_names, stale)) and not _can_see_names(warehouse):
        return [call for call in stale if not _has_names(call)]
    return stale


def find_left_out(warehouse: Warehouse, archive: str | None, *, least_rows: int = LEAST_ROWS) -> list[str]:
    """Return the functions whose answers `find_stale_calls` leaves out because they have names."""
    found = {call.function for call in _find_stale(warehouse, archive, least_rows) if _has_names(call)}
    return [] if not found or _can_see_names(warehouse) else sorted(found)


def describe_left_out(functions: Sequence[str]) -> str:
    """Say which answers are not kept because nobody may compute them who sees names."""
    return (
        f"{', '.join(functions)}: not kept, because the login of reader_url sees no names of users and files;"
        " each is computed when somebody asks who does"
    )


def _find_stale(warehouse: Warehouse, archive: str | None, least_rows: int) -> list[Call]:
    with closing(warehouse.connect(Role.LOADER)) as loader:
        names = [
            name
            for (name,) in loader.execute(
                "SELECT archives.name FROM core.archives JOIN ledger.sources ON archive_id = archives.id"
                " JOIN ledger.loaded_rows ON source_id = sources.id"
                " GROUP BY archives.name HAVING sum(row_count) >= %s ORDER BY archives.name",
                [least_rows],
            ).fetchall()
        ]
    with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
        calls = [
            Call(name, function, tuple(call.items()))
            for name in names
            for function, (_, metadata) in _read_functions().items()
            for call in metadata.kept
        ]
        calls += _find_compared(reader, names)
        return [
            call
            for call in calls
            if archive in (None, call.archive)
            and reader.execute(
                sql.SQL("SELECT mart.is_answered({}, {}, {})").format(
                    sql.Literal(call.function), sql.Literal(call.archive), write_arguments(call)
                )
            ).fetchone()
            == (False,)
        ]


def _find_compared(reader: psycopg.Connection, names: Sequence[str]) -> list[Call]:
    """Find what else `mart.compare_archives` and `mart.compare_mixes` ask about these archives.

    By the days of another archive's zone, if neither was simulated, and from the time that a simulation of
    the archive became steady. Two simulations with each other are not among them, nor mixes of simulations.
    """
    rows = reader.execute(
        """
        WITH pairs AS (
            SELECT mine.archive, others.archive AS other
            FROM mart.archives AS mine, mart.archives AS others
            WHERE mine.kind <> 'simulated' AND others.kind <> 'simulated'
            UNION
            SELECT archive, related_archive FROM mart.related_archives
        )
        SELECT DISTINCT pairs.archive, zones.timezone,
            (runs.steady_at AT TIME ZONE 'UTC')::text || 'Z' AS asked_from
        FROM pairs
        JOIN mart.archives AS mine ON mine.archive = pairs.archive
        JOIN mart.archives AS others ON others.archive = pairs.other
        LEFT JOIN mart.simulation_runs AS runs ON runs.archive = pairs.other AND pairs.archive <> pairs.other
        CROSS JOIN LATERAL (VALUES (NULL), (nullif(others.timezone, mine.timezone))) AS zones (timezone)
        WHERE pairs.archive = ANY(%(names)s) AND pairs.other = ANY(%(names)s)
            AND (zones.timezone IS NOT NULL OR runs.steady_at IS NOT NULL)
        ORDER BY archive, timezone, asked_from
        """,
        {"names": list(names)},
    ).fetchall()
    return [
        Call(
            archive,
            function,
            tuple(
                (name, sql.Literal(value).as_string())
                for name, value in (("timezone", timezone), ("asked_from", asked_from))
                if value is not None
            ),
        )
        for archive, timezone, asked_from in rows
        for function in ("comparison_figures", "comparison_kinds")
        if asked_from is None or function == "comparison_figures"
    ]


def _has_names(call: Call) -> bool:
    _, metadata = _read_functions()[call.function]
    return metadata.has_names


def _can_see_names(warehouse: Warehouse) -> bool:
    try:
        warehouse.connect_reader(sees_names=True).close()
    except DatabaseError:
        return False
    return True


def keep_answers(warehouse: Warehouse, calls: Sequence[Call], *, deadline: float) -> Iterator[KeptAnswer]:
    """Compute and store the answers, one after the other, until `deadline` on the monotonic clock.

    An answer that is not finished by then is discarded. Answers of the same function and archive in another
    state are deleted: nobody may ask for them again.
    """
    for call in calls:
        began, computed_at = time.monotonic(), datetime.now(UTC)
        try:
            found = _compute(warehouse, call, deadline)
        except errors.QueryCanceled:
            if time.monotonic() < deadline:
                raise
            return
        if found is None:
            continue
        kept = KeptAnswer(call, found.row_count, time.monotonic() - began)
        with closing(warehouse.connect(Role.LOADER)) as loader, loader.transaction():
            loader.execute(
                "DELETE FROM studies.kept_answers USING core.archives WHERE archive_id = archives.id"
                " AND name = %s AND function_name = %s AND (arguments = %s::jsonb OR state <> %s)",
                [call.archive, call.function, found.arguments, found.state],
            )
            if kept.is_kept:
                # Nothing is stored if the archive is gone, or if another refresh stores the same answer.
                loader.execute(
                    "INSERT INTO studies.kept_answers"
                    " (archive_id, function_name, arguments, state, answer, took_s, computed_at, has_names)"
                    " SELECT id, %s, %s::jsonb, %s, %s::jsonb, %s, %s, %s FROM core.archives WHERE name = %s"
                    " ON CONFLICT DO NOTHING",
                    [
                        *(call.function, found.arguments, found.state, found.answer, kept.took_s),
                        *(computed_at, _has_names(call), call.archive),
                    ],
                )
        yield kept


@dataclass(frozen=True)
class _Found:
    """An answer, as texts of JSON, because Python's floats would round numbers."""

    state: str
    arguments: str
    answer: str
    row_count: int


def _compute(warehouse: Warehouse, call: Call, deadline: float) -> _Found | None:
    """Compute an answer, and the state of the same snapshot. None if the archive is gone.

    Too many rows are left out, because JSON of them all could be more than PostgreSQL makes.
    """
    given = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), _as_written(value))
        for name, value in (("archive", sql.Literal(call.archive).as_string()), *call.given)
    )
    # Materialized, so that the limit does not change how the rows are computed.
    query = sql.SQL(
        "WITH computed AS MATERIALIZED (SELECT * FROM {}({})),"
        " counted AS (SELECT * FROM computed LIMIT {})"
        " SELECT archive_states.state, ({})::text, found.answer, found.row_count FROM mart.archive_states,"
        " (SELECT coalesce(jsonb_agg(to_jsonb(counted)), '[]')::text AS answer, count(*) AS row_count"
        " FROM counted) AS found WHERE archive_states.archive = {}"
    ).format(
        sql.Identifier("mart", name_computed(call.function)),
        given,
        sql.Literal(MOST_ROWS + 1),
        write_arguments(call),
        sql.Literal(call.archive),
    )
    with closing(warehouse.connect_reader(sees_names=_has_names(call))) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        left_ms = max(1, round((deadline - time.monotonic()) * 1000))
        reader.execute("SELECT set_config('statement_timeout', %s, true)", [str(left_ms)])
        with reader.cursor(row_factory=args_row(_Found)) as cursor:
            return cursor.execute(query).fetchone()


def write_arguments(call: Call) -> sql.Composable:
    """Write the arguments of a call as one JSON object, as the function itself does."""
    signature, _ = _read_functions()[call.function]
    given = dict(call.given)
    return write_key(
        {
            each.name: sql.SQL("({})::{}").format(
                _as_written(given.get(each.name, each.default or "NULL")), _as_written(each.type)
            )
            for each in signature.arguments
        },
        {each.name: each.type for each in signature.arguments},
    )


def _as_written(text: str) -> sql.Composable:
    """SQL from `sql/`."""
    return sql.SQL(text)
