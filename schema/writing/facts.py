"""Writes facts in a load's transaction. No other code writes them.

Callers pass (table, frame). Row numbers, month partitions, the ledger's counts by month and the index
summaries are all handled here, so that facts could one day also go to another kind of storage.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import polars as pl
import psycopg
import sqlalchemy as sa
from psycopg import sql

from tapewise.schema.errors import DatabaseError
from tapewise.schema.tables.facts import FACT_TABLES, event_time_columns
from tapewise.schema.writing.loader import copy_encoded, encode_frame, number_rows, take_row_ids
from tapewise.schema.writing.partitions import Partitions, notice_partitions

_NOTE = """
    INSERT INTO ledger.loaded_rows
        (log_file_id, load_id, fact_table, month, source_id, row_count, filled_columns)
    SELECT log_file_id, %s, fact_table, month, %s, row_count, filled_columns::text[]
    FROM unnest(%s::text[], %s::integer[], %s::date[], %s::bigint[], %s::text[])
        AS written (fact_table, log_file_id, month, row_count, filled_columns)
"""
# A row belongs to the latest load of its file whose first row number is at most the row's.
_MOVED = sql.SQL("""
    WITH moved AS (
        SELECT log_file_id, month, load_id, count(*) AS row_count
        FROM unnest(%(log_file_ids)s::integer[], %(ids)s::bigint[], %(months)s::date[])
            AS fact (log_file_id, id, month),
        LATERAL (
            SELECT max(load_id) AS load_id FROM ledger.loaded_rows
            WHERE loaded_rows.log_file_id = fact.log_file_id AND load_id <= fact.id
        ) AS load
        GROUP BY log_file_id, month, load_id
    )
""")
_LEAVE = _MOVED + sql.SQL("""
    UPDATE ledger.loaded_rows SET row_count = loaded_rows.row_count - moved.row_count
    FROM moved
    WHERE loaded_rows.log_file_id = moved.log_file_id AND loaded_rows.load_id = moved.load_id
        AND loaded_rows.month = moved.month AND fact_table = %(fact_table)s
""")
_ARRIVE = _MOVED + sql.SQL("""
    INSERT INTO ledger.loaded_rows AS held
        (log_file_id, load_id, fact_table, month, source_id, row_count, filled_columns)
    SELECT log_file_id, load_id, %(fact_table)s, month, %(source_id)s, row_count, ARRAY(
        -- A row that has moved may have a value in any column that its load filled.
        SELECT DISTINCT unnest(loaded_rows.filled_columns) COLLATE "C" FROM ledger.loaded_rows
        WHERE loaded_rows.log_file_id = moved.log_file_id AND loaded_rows.load_id = moved.load_id
            AND fact_table = %(fact_table)s
        ORDER BY 1
    )
    FROM moved
    ON CONFLICT (log_file_id, load_id, fact_table, month) DO UPDATE SET
        row_count = held.row_count + excluded.row_count, filled_columns = excluded.filled_columns
""")

# Counts the rows that are left in the month in which the forgotten time ends. A load's row numbers end where
# the next load's begin.
_RECOUNT = """
    WITH loads AS (
        SELECT log_file_id, load_id, lead(load_id) OVER of_file AS next_load_id
        FROM (
            SELECT DISTINCT log_file_id, load_id FROM ledger.loaded_rows
            WHERE source_id IN (SELECT id FROM ledger.sources WHERE archive_id = %(archive_id)s)
        ) AS found
        WINDOW of_file AS (PARTITION BY log_file_id ORDER BY load_id)
    ), counted AS (
        SELECT loads.log_file_id, loads.load_id, count(*) AS row_count
        FROM {table} AS fact JOIN loads
            ON fact.log_file_id = loads.log_file_id
            AND fact.id >= loads.load_id AND (fact.id < loads.next_load_id) IS NOT FALSE
        WHERE archive_id = %(archive_id)s AND {time} >= %(since)s AND {time} < %(until)s
        GROUP BY loads.log_file_id, loads.load_id
    )
    UPDATE ledger.loaded_rows SET row_count = coalesce(counted.row_count, 0)
    FROM loads LEFT JOIN counted USING (log_file_id, load_id)
    WHERE loaded_rows.log_file_id = loads.log_file_id AND loaded_rows.load_id = loads.load_id
        AND fact_table = %(fact_table)s AND month = %(month)s
"""
_DROP_EMPTY = """
    DELETE FROM ledger.loaded_rows
    WHERE source_id IN (SELECT id FROM ledger.sources WHERE archive_id = %(archive_id)s)
        AND (month < %(month)s OR row_count = 0)
"""


@dataclass(frozen=True)
class EncodedFacts:
    """Rows of a fact table, ready to be sent: numbered (`rows`), and encoded for binary COPY (`pieces`)."""

    table: sa.Table
    rows: pl.DataFrame
    columns: Sequence[str]
    pieces: Sequence[bytes]
    # By the id of the log file and the month: the number of rows, and what `filled_columns` of
    # `ledger.loaded_rows` says about them.
    months: dict[tuple[int, date], tuple[int, set[str]]]

    @property
    def days(self) -> set[date]:
        """The days (UTC) of the rows' event times."""
        return set(self.rows[event_time_columns[self.table.name]].dt.date().unique())


def _describe_months(table: sa.Table, rows: pl.DataFrame) -> dict[tuple[int, date], tuple[int, set[str]]]:
    """Return `EncodedFacts.months` of `rows`."""
    signs = {
        column.name: pl.col(column.name).is_not_null()
        for column in table.columns
        if column.nullable and column.name in rows.columns
    }
    if table.name == "transfers":
        failed = {f"failed {name}": pl.col("is_failed") & sign for name, sign in signs.items()}
        signs |= {"failed": pl.col("is_failed"), **failed}
    if table.name == "namespace_events":
        signs |= {f"kind {kind}": pl.col("kind") == kind for kind in rows["kind"].unique()}
    month = pl.col(event_time_columns[table.name]).dt.date().dt.month_start().alias("month")
    found = rows.group_by("log_file_id", month).agg(
        pl.len().alias("row count"), *(sign.any().alias(name) for name, sign in signs.items())
    )
    return {
        (row.pop("log_file_id"), row.pop("month")): (
            row.pop("row count"),
            {name for name, is_filled in row.items() if is_filled},
        )
        for row in found.to_dicts()
    }


class FactWriter:
    """Writes the facts of one load, which may be of several log files.

    One thread makes the rows and calls `encode`. It may run ahead of the thread that has the load's
    transaction and calls `write`. `settling` is the first thread's connection, in autocommit mode because row
    numbers and month partitions must exist before the rows.
    """

    def __init__(self, settling: psycopg.Connection, source_id: int) -> None:
        self._settling = settling
        self._source_id = source_id
        self._partitions = Partitions(settling)
        self._load_id: int | None = None
        # By table, log file and month.
        self._written: Counter[tuple[str, int, date]] = Counter()
        self._filled: defaultdict[tuple[str, int, date], set[str]] = defaultdict(set)
        self._noticed: set[tuple[str, date]] = set()

    def encode(self, table: sa.Table, facts: pl.DataFrame) -> EncodedFacts:
        """Number and encode `facts`, and create their month partitions.

        `facts` has the columns of `table` except `id`. Raises SchemaMismatchError if the columns do not fit.
        """
        first_ids = take_row_ids(self._settling, facts.height)
        if self._load_id is None and first_ids:
            self._load_id = first_ids[0]
        rows = number_rows(facts, first_ids)
        months = _describe_months(table, rows)
        self._partitions.make(table.name, {month for _, month in months})
        columns, pieces = encode_frame(rows, table)
        encoded = EncodedFacts(table, rows, columns, tuple(pieces), months)
        self._partitions.follow(rows.height)
        return encoded

    def write(self, connection: psycopg.Connection, facts: EncodedFacts) -> None:
        """Send encoded facts, in the transaction of `connection`. Raises DatabaseError if any are lost."""
        new_months = {(facts.table.name, month) for _, month in facts.months} - self._noticed
        if new_months:
            notice_partitions(connection, facts.table.name, [month for _, month in new_months])
            self._noticed |= new_months
        written = copy_encoded(connection, facts.table, facts.columns, facts.pieces)
        if written != facts.rows.height:
            raise DatabaseError(
                f"{facts.rows.height} rows were sent to {facts.table.fullname}, but {written} arrived"
            )
        for (log_file_id, month), (row_count, filled) in facts.months.items():
            self._written[facts.table.name, log_file_id, month] += row_count
            self._filled[facts.table.name, log_file_id, month] |= filled

    def end(self, connection: psycopg.Connection) -> None:
        """Record in the ledger the number of facts by table, log file and month, after the last `write`."""
        if self._written:
            keys = [list(values) for values in zip(*self._written, strict=True)]
            filled = [_write_array(sorted(self._filled[key])) for key in self._written]
            values = [*keys, list(self._written.values()), filled]
            connection.execute(_NOTE, [self._load_id, self._source_id, *values])

    def summarise(self) -> None:
        """Summarise the indexes of the months written. Call this after the last `write`."""
        self._partitions.end()


def _write_array(names: Iterable[str]) -> str:
    """PostgreSQL's literal for an array of names of columns, which need no quotes."""
    # Quotes would cost a quarter of a millisecond a file: psycopg escapes each of them.
    return "{" + ",".join(names) + "}"


def note_moves(connection: psycopg.Connection, source_id: int, table: str, moved: pl.DataFrame) -> None:
    """Record in the ledger which rows of `table` have moved to another month.

    `moved` has the `log_file_id` and `id` of these rows, and their event times before (`first_at`) and after
    (`second_at`). Runs in the transaction of `connection`, which has moved the rows.
    """
    months = (pl.col(name).dt.date().dt.month_start() for name in ("first_at", "second_at"))
    moved = moved.with_columns(months).filter(pl.col("first_at") != pl.col("second_at"))
    if moved.is_empty():
        return
    values = {
        "log_file_ids": moved["log_file_id"].to_list(),
        "ids": moved["id"].to_list(),
        "fact_table": table,
        "source_id": source_id,
    }
    for statement, months_of in ((_LEAVE, "first_at"), (_ARRIVE, "second_at")):
        connection.execute(statement, values | {"months": moved[months_of].to_list()})


def note_forgotten(connection: psycopg.Connection, archive_id: int, since: datetime) -> None:
    """Record in the ledger that an archive's facts from before `since` are gone.

    Runs in the transaction that deletes them.
    """
    month = since.astimezone(UTC).date().replace(day=1)
    next_month = (month + timedelta(days=31)).replace(day=1)
    values = {
        "archive_id": archive_id,
        "month": month,
        "since": since,
        "until": datetime.combine(next_month, time(), UTC),
    }
    # If `since` is the beginning of the month, all of the month is kept.
    for table in FACT_TABLES if since > datetime.combine(month, time(), UTC) else ():
        statement = sql.SQL(_RECOUNT).format(
            table=sql.Identifier("core", table.name), time=sql.Identifier(event_time_columns[table.name])
        )
        connection.execute(statement, values | {"fact_table": table.name})
    connection.execute(_DROP_EMPTY, values)
