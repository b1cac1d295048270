"""Prepares the answers of `mart.lower_envelopes` and `mart.residual_blocks` that take long to compute.

`mart.envelope_choices` decides which questions need a prepared answer, and finds it. An answer is computed by
the reading role, and stored by the loading role, which cannot read `mart`.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
from psycopg import errors, sql
from psycopg.rows import class_row

from tapewise.schema.database import Role, Warehouse

TIME_LIMIT_S = 3600.0

_LINE_COLUMNS = (
    "interface", "direction", "stratum_size", "stratum_count", "transfer_count", "filtered_count",
    "latency_s", "slope_s_per_byte", "latency_se_s", "slope_se_s_per_byte",
    "regression_squares_s2", "residual_squares_s2",
)  # fmt: skip
_BLOCK_COLUMNS = (
    "interface", "direction", "block_size", "block", "transfer_count", "smallest_bytes", "mean_bytes",
    "largest_bytes", "mean_residual_s", "p99_residual_s", "is_outlier", "is_full",
)  # fmt: skip

# All time, each month of the archive's own clock, and whatever was prepared before.
_FIND_STALE = """
    WITH questions AS (
        SELECT archive, NULL::timestamptz AS since, NULL::timestamptz AS until, NULL::text AS client,
            NULL::text AS class_of_service, 1 AS place
        FROM mart.archives
        UNION ALL
        SELECT archive, since, until, client, class_of_service, 2
        FROM mart.envelope_preparations
        UNION ALL
        SELECT DISTINCT archive, date_trunc('month', starts_on::timestamp) AT TIME ZONE timezone,
            (date_trunc('month', starts_on::timestamp) + interval '1 month') AT TIME ZONE timezone,
            NULL, NULL, 3
        FROM mart.day_cells
    ), distinct_questions AS (
        SELECT archive, since, until, client, class_of_service, min(place) AS place
        FROM questions
        WHERE %(archive)s::text IS NULL OR archive = %(archive)s
        GROUP BY archive, since, until, client, class_of_service
    )
    SELECT archive, since, until, client, class_of_service
    FROM distinct_questions
    WHERE EXISTS (
        SELECT FROM mart.envelope_choices(
            archive => distinct_questions.archive, since => distinct_questions.since,
            until => distinct_questions.until, client => distinct_questions.client,
            class_of_service => distinct_questions.class_of_service
        ) AS choices
        WHERE NOT choices.is_fresh AND (choices.preparation_id IS NULL OR choices.newer_count <> 0)
    )
    ORDER BY archive, place, since DESC, client, class_of_service
"""


@dataclass(frozen=True)
class Question:
    """Which transfers an answer is about. None means all, except for the archive."""

    archive: str
    since: datetime | None = None
    until: datetime | None = None
    client: str | None = None
    class_of_service: str | None = None

    def describe(self, timezone: str) -> str:
        """Describe the question in words, with times by the archive's clock."""
        zone = ZoneInfo(timezone)
        times = [
            f"{word} {moment.astimezone(zone):%Y-%m-%d %H:%M}"
            for word, moment in (("from", self.since), ("to", self.until))
            if moment is not None
        ]
        others = [
            f"{word} {value}"
            for word, value in (("client", self.client), ("class of service", self.class_of_service))
            if value is not None
        ]
        return ", ".join([" ".join(times) or "all time", *others])


@dataclass(frozen=True)
class Preparation:
    """A question whose answer was computed, from how many transfers, and how long it took."""

    question: Question
    transfer_count: int
    took_s: float


@dataclass(frozen=True)
class _Answer:
    counted: int
    transfer_count: int
    first_ended_at: datetime | None
    last_ended_at: datetime | None
    lines: Sequence[Sequence[Any]]
    blocks: Sequence[Sequence[Any]]


def can_read(warehouse: Warehouse) -> bool:
    """Whether the settings name a login that reads `mart`; on a server of one's own, they need not."""
    return warehouse.server is not None or warehouse.settings.reader_url is not None


def find_stale(warehouse: Warehouse, archive: str | None) -> list[Question]:
    """Return the questions whose answers are missing or out of date, the most general first."""
    with (
        closing(warehouse.connect(Role.READER, autocommit=True)) as reader,
        reader.cursor(row_factory=class_row(Question)) as cursor,
    ):
        return cursor.execute(_FIND_STALE, {"archive": archive}).fetchall()


def is_answered_at_once(warehouse: Warehouse, question: Question) -> bool:
    """Whether the answer is computed whenever somebody asks, so that preparing it would be in vain."""
    with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
        row = reader.execute(
            "SELECT is_fresh FROM mart.envelope_choices(archive => %s, since => %s, until => %s,"
            " client => %s, class_of_service => %s)",
            astuple(question),
        ).fetchone()
    return row is not None and bool(row[0])


def prepare(
    warehouse: Warehouse, questions: Sequence[Question], *, time_limit_s: float
) -> Iterator[Preparation]:
    """Compute and store the answers, one after the other, until the time is over.

    Yields each answer when it is stored. An answer that is not finished when the time is over is discarded,
    and the one that was stored before stays.
    """
    deadline = time.monotonic() + time_limit_s
    for question in questions:
        began, computed_at = time.monotonic(), datetime.now(UTC)
        try:
            with closing(warehouse.connect(Role.READER)) as reader:
                answer = _compute(reader, question, deadline)
        except errors.QueryCanceled:
            if time.monotonic() < deadline:
                raise
            return
        took_s = time.monotonic() - began
        with closing(warehouse.connect(Role.LOADER)) as loader:
            _store(loader, question, answer, took_s, computed_at)
        yield Preparation(question, answer.transfer_count, took_s)


def _compute(reader: psycopg.Connection, question: Question, deadline: float) -> _Answer:
    """Compute an answer from one snapshot. Raises QueryCanceled at the deadline."""
    reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    range_arguments = "archive => %(archive)s, since => %(since)s, until => %(until)s"
    arguments = f"{range_arguments}, client => %(client)s, class_of_service => %(class_of_service)s"

    def fetch(columns: str, call: str, **more: str) -> list[tuple[Any, ...]]:
        left_ms = max(1, round((deadline - time.monotonic()) * 1000))
        reader.execute("SELECT set_config('statement_timeout', %s, true)", [str(left_ms)])
        query = f"SELECT {columns} FROM mart.{call}"  # noqa: S608  # our own names
        return reader.execute(query.encode(), {**asdict(question), **more}).fetchall()

    # The cells do not distinguish clients.
    ((counted,),) = fetch(
        "coalesce(sum(transfer_count), 0)::bigint",
        f"selected_days({range_arguments}, class_of_service => %(class_of_service)s)",
    )
    ((count, first_ended_at, last_ended_at),) = fetch(
        "count(*), min(ended_at), max(ended_at)", f"envelope_transfers({arguments})"
    )
    lines = fetch(", ".join(_LINE_COLUMNS), f"lower_envelopes({arguments}, is_fresh => TRUE)")
    # Finding the lines again would take as long as the blocks. Python writes floats so that they are read as
    # the same.
    known = json.dumps(
        [{"archive": question.archive, **dict(zip(_LINE_COLUMNS, line, strict=True))} for line in lines]
    )
    blocks = fetch(
        ", ".join(_BLOCK_COLUMNS),
        f"residual_blocks({arguments}, is_fresh => TRUE, lines => %(lines)s)",
        lines=known,
    )
    return _Answer(counted, count, first_ended_at, last_ended_at, lines, blocks)


def _store(
    loader: psycopg.Connection, question: Question, answer: _Answer, took_s: float, computed_at: datetime
) -> None:
    """Store an answer in place of the one before.

    Nothing is stored if the archive is gone, or if another refresh is storing the same answer.
    """
    with loader.transaction():
        loader.execute(
            "DELETE FROM studies.envelope_preparations USING core.archives WHERE archive_id = archives.id"
            " AND name = %s AND since IS NOT DISTINCT FROM %s AND until IS NOT DISTINCT FROM %s"
            " AND client IS NOT DISTINCT FROM %s AND class_of_service IS NOT DISTINCT FROM %s",
            astuple(question),
        )
        row = loader.execute(
            "INSERT INTO studies.envelope_preparations (archive_id, since, until, client, class_of_service,"
            " counted, transfer_count, first_ended_at, last_ended_at, took_s, computed_at)"
            " SELECT id, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s FROM core.archives WHERE name = %s"
            " ON CONFLICT DO NOTHING RETURNING id",
            [
                *(question.since, question.until, question.client, question.class_of_service),
                *(answer.counted, answer.transfer_count, answer.first_ended_at, answer.last_ended_at),
                *(took_s, computed_at, question.archive),
            ],
        ).fetchone()
        if row is None:
            return
        for table, columns, rows in (
            ("prepared_envelopes", _LINE_COLUMNS, answer.lines),
            ("prepared_blocks", _BLOCK_COLUMNS, answer.blocks),
        ):
            statement = sql.SQL("COPY {} (preparation_id, {}) FROM STDIN").format(
                sql.Identifier("studies", table), sql.SQL(", ").join(map(sql.Identifier, columns))
            )
            with loader.cursor() as cursor, cursor.copy(statement) as copy:
                for values in rows:
                    copy.write_row([*row, *values])
