"""The queries of a report. They run as the reading role, so a report contains no names of users or files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

import psycopg


@dataclass(frozen=True)
class Section:
    """A table of the report.

    `name` is its key in JSON. The query's parameters are those of a Scope. The query's column names carry the
    units, and `heads` are the column names for people. `silence` is printed if there are no rows.
    `needs_detail` is whether the query reads single lines, and so finds nothing of forgotten days.
    """

    name: str
    heading: str
    heads: tuple[str, ...]
    query: LiteralString
    silence: str
    needs_detail: bool = False


@dataclass(frozen=True)
class Answer:
    """A section with the result of its query."""

    section: Section
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Scope:
    """What a report is about: an archive, from `since` until `until` (None: all of its time).

    Both are midnights of the archive's own clock, because what is counted by day has only whole days.
    """

    archive: str
    since: datetime | None = None
    until: datetime | None = None


def ask(
    connection: psycopg.Connection, scope: Scope, sections: Sequence[Section] | None = None
) -> list[Answer]:
    """Run the queries of `sections` (None: all of a report); `connection` must be a reader's."""
    answers = []
    for section in SECTIONS if sections is None else sections:
        cursor = connection.execute(section.query, vars(scope))
        columns = [column.name for column in cursor.description or ()]
        answers.append(Answer(section, columns, cursor.fetchall()))
    return answers


def count_hourless(connection: psycopg.Connection, archive: str) -> int:
    """Count the lines of the archive that give the day of an event, but not its hour."""
    row = connection.execute(
        "SELECT count(*) FROM mart.source_events WHERE archive = %s AND is_time_of_day_unknown", [archive]
    ).fetchone()
    return 0 if row is None else int(row[0])


_NO_TRANSFERS = "These logs contain no transfers."

SECTIONS = (
    Section(
        "transfers",
        "Transfers by interface and direction; bytes exclude failed transfers (failures unknown: transfers in"
        " logs that do not report failures)",
        ("interface", "direction", "transfers", "failed", "failures unknown", "bytes", "users", "clients"),
        """
        SELECT interface, direction, transfer_count, failed_count, failures_unknown_count, size_bytes,
            nullif(user_count, 0) AS user_count, nullif(client_count, 0) AS client_count
        FROM (
            SELECT interface, direction, sum(transfer_count)::bigint AS transfer_count,
                CASE WHEN bool_or(failed_count > 0 OR is_failure_logged) THEN sum(failed_count)::bigint END
                    AS failed_count,
                coalesce(sum(transfer_count) FILTER (WHERE NOT is_failure_logged), 0)::bigint
                    AS failures_unknown_count,
                CASE
                    WHEN sum(unknown_size_count) = 0
                        OR sum(unknown_size_count) < sum(transfer_count - failed_count)
                        THEN sum(size_bytes)
                END AS size_bytes
            FROM mart.selected_days(archive => %(archive)s, since => %(since)s, until => %(until)s)
            GROUP BY interface, direction
        ) AS counts
        -- Counting distinct users or clients directly, or both in one query, would sort all transfers.
        LEFT JOIN (
            SELECT interface, direction, count(user_id) AS user_count
            FROM (
                SELECT DISTINCT interface, direction, user_id
                FROM mart.selected_transfers(
                    archive => %(archive)s, since => %(since)s, until => %(until)s
                )
            ) AS users
            GROUP BY interface, direction
        ) AS users USING (interface, direction)
        LEFT JOIN (
            SELECT interface, direction, count(client) AS client_count
            FROM (
                SELECT DISTINCT interface, direction, client
                FROM mart.selected_transfers(
                    archive => %(archive)s, since => %(since)s, until => %(until)s
                )
            ) AS clients
            GROUP BY interface, direction
        ) AS clients USING (interface, direction)
        ORDER BY interface, direction DESC
        """,
        _NO_TRANSFERS,
    ),
    Section(
        "others",
        "Other events in the logs",
        ("what", "operation", "lines", "mean time"),
        """
        SELECT 'name-space event' AS what, operation, count(*) AS line_count, avg(duration_s) AS mean_s
        FROM mart.namespace_events WHERE archive = %(archive)s
            AND happened_at >= coalesce(%(since)s::timestamptz, '-infinity')
            AND happened_at < coalesce(%(until)s::timestamptz, 'infinity')
        GROUP BY operation
        UNION ALL
        SELECT 'UniTree job', operation, count(*), avg(duration_s)
        FROM mart.unitree_jobs WHERE archive = %(archive)s
            AND ended_at >= coalesce(%(since)s::timestamptz, '-infinity')
            AND ended_at < coalesce(%(until)s::timestamptz, 'infinity')
        GROUP BY operation
        UNION ALL
        SELECT 'stage from tape', operation, count(*), avg(duration_s)
        FROM mart.stages WHERE archive = %(archive)s
            AND staged_at >= coalesce(%(since)s::timestamptz, '-infinity')
            AND staged_at < coalesce(%(until)s::timestamptz, 'infinity')
        GROUP BY operation
        UNION ALL
        SELECT 'file opened', operation, count(*), NULL
        FROM mart.opens WHERE archive = %(archive)s
            AND opened_at >= coalesce(%(since)s::timestamptz, '-infinity')
            AND opened_at < coalesce(%(until)s::timestamptz, 'infinity')
        GROUP BY operation
        ORDER BY what, line_count DESC, operation
        """,
        "None.",
        needs_detail=True,
    ),
    Section(
        "failures",
        "Failures, by the log's own code (the ten most frequent)",
        ("what", "interface", "direction", "code", "failed", "first", "last"),
        """
        SELECT what, interface, direction, status_code, count(*) AS failed_count,
            min(happened_at AT TIME ZONE timezone)::text AS first_local,
            max(happened_at AT TIME ZONE timezone)::text AS last_local
        FROM (
            SELECT 'transfer' AS what, archive, interface, direction, status_code, ended_at AS happened_at
            FROM mart.transfers WHERE is_failed
            UNION ALL
            SELECT 'open', archive, interface, direction, status_code, opened_at
            FROM mart.opens WHERE is_failed
        ) AS failures
        JOIN mart.archives USING (archive)
        WHERE archive = %(archive)s
            AND happened_at >= coalesce(%(since)s::timestamptz, '-infinity')
            AND happened_at < coalesce(%(until)s::timestamptz, 'infinity')
        GROUP BY what, interface, direction, status_code
        ORDER BY failed_count DESC, what DESC, interface, direction, status_code
        LIMIT 10
        """,
        "These logs contain no failed transfers; not every log reports failures.",
        needs_detail=True,
    ),
    Section(
        "sizes",
        "File sizes by percentile",
        ("direction", "requests", "5 %", "25 %", "50 %", "75 %", "95 %", "99 %"),
        """
        SELECT direction, request_count,
            max(value) FILTER (WHERE percent = 5) AS p5_bytes,
            max(value) FILTER (WHERE percent = 25) AS p25_bytes,
            max(value) FILTER (WHERE percent = 50) AS p50_bytes,
            max(value) FILTER (WHERE percent = 75) AS p75_bytes,
            max(value) FILTER (WHERE percent = 95) AS p95_bytes,
            max(value) FILTER (WHERE percent = 99) AS p99_bytes
        FROM mart.request_quantiles(
            archive => %(archive)s, since => %(since)s, until => %(until)s
        )
        WHERE quantity = 'size'
        GROUP BY direction, request_count
        ORDER BY direction DESC
        """,
        _NO_TRANSFERS,
    ),
    Section(
        "times",
        "Times by percentile (wait: from the request until the transfer began)",
        (
            *("time", "direction", "requests", "5 %", "25 %", "50 %", "75 %", "95 %", "99 %"),
            *("clock", "below it", "clocks disagree"),
        ),
        """
        SELECT quantity, direction, request_count,
            max(value) FILTER (WHERE percent = 5) AS p5_s, max(value) FILTER (WHERE percent = 25) AS p25_s,
            max(value) FILTER (WHERE percent = 50) AS p50_s, max(value) FILTER (WHERE percent = 75) AS p75_s,
            max(value) FILTER (WHERE percent = 95) AS p95_s, max(value) FILTER (WHERE percent = 99) AS p99_s,
            clock_step_s, below_clock_count, negative_count
        FROM mart.request_quantiles(
            archive => %(archive)s, since => %(since)s, until => %(until)s
        )
        WHERE unit = 's'
        GROUP BY quantity, direction, request_count, clock_step_s, below_clock_count, negative_count
        ORDER BY quantity, direction DESC
        """,
        "These logs do not show how long transfers took.",
    ),
    Section(
        "rates",
        "Rates by percentile, of transfers that did not fail",
        ("interface", "direction", "transfers", "5 %", "25 %", "50 %", "75 %", "95 %"),
        """
        SELECT interface, direction, count(rate_bytes_per_s) AS transfer_count,
            percentile_disc(0.05) WITHIN GROUP (ORDER BY rate_bytes_per_s) AS p5_bytes_per_s,
            percentile_disc(0.25) WITHIN GROUP (ORDER BY rate_bytes_per_s) AS p25_bytes_per_s,
            percentile_disc(0.50) WITHIN GROUP (ORDER BY rate_bytes_per_s) AS p50_bytes_per_s,
            percentile_disc(0.75) WITHIN GROUP (ORDER BY rate_bytes_per_s) AS p75_bytes_per_s,
            percentile_disc(0.95) WITHIN GROUP (ORDER BY rate_bytes_per_s) AS p95_bytes_per_s
        FROM mart.selected_transfers(archive => %(archive)s, since => %(since)s, until => %(until)s)
        WHERE NOT is_failed AND rate_bytes_per_s IS NOT NULL
        GROUP BY interface, direction
        ORDER BY interface, direction DESC
        """,
        "These logs do not show how fast transfers were.",
        needs_detail=True,
    ),
    Section(
        "records",
        "Records",
        ("record", "value", "", "interface", "direction", "when"),
        """
        SELECT record, value::double precision AS value, unit, interface, direction,
            CASE
                WHEN record LIKE '%% in a day%%' THEN happened_on::text
                ELSE coalesce((happened_at AT TIME ZONE timezone)::text, happened_on || ', hour unknown')
            END AS happened_local
        FROM mart.records(archive => %(archive)s, since => %(since)s, until => %(until)s)
        JOIN mart.archives USING (archive)
        ORDER BY record_number
        """,
        _NO_TRANSFERS,
    ),
    Section(
        "busiest_days",
        "The five days with the most bytes (of transfers that ended on that day)",
        ("day", "transfers", "failed", "failures unknown", "bytes"),
        """
        SELECT to_char(starts_on, 'Dy YYYY-MM-DD') AS day, sum(transfer_count)::bigint AS transfer_count,
            sum(failed_count)::bigint AS failed_count,
            sum(failures_unknown_count)::bigint AS failures_unknown_count, sum(size_bytes) AS size_bytes
        FROM mart.daily_activity(archive => %(archive)s, since => %(since)s, until => %(until)s)
        GROUP BY starts_on
        ORDER BY sum(size_bytes) DESC NULLS LAST, starts_on
        LIMIT 5
        """,
        _NO_TRANSFERS,
    ),
    Section(
        "busiest_hours",
        "The five hours of the day in which the most transfers ended",
        ("hour", "transfers", "of all", "bytes"),
        """
        SELECT to_char(hour, 'FM00') || ':00' AS hour, sum(transfer_count)::bigint AS transfer_count,
            sum(transfer_count) / sum(sum(transfer_count)) OVER () AS transfer_ratio,
            sum(size_bytes) AS size_bytes
        FROM mart.hour_profiles(archive => %(archive)s, since => %(since)s, until => %(until)s)
        GROUP BY hour
        ORDER BY transfer_count DESC, hour
        LIMIT 5
        """,
        "These logs report no transfer whose hour is known.",
    ),
    Section(
        "users",
        "How requests are distributed over users",
        (
            "interface",
            "direction",
            "users",
            "busiest user",
            "busiest ten",
            "users with half",
            "largest share of bytes",
        ),
        """
        SELECT interface, direction, count(*) AS user_count,
            max(request_ratio) AS busiest_ratio,
            max(running_ratio) FILTER (WHERE user_rank <= 10) AS busiest_ten_ratio,
            min(user_rank) FILTER (WHERE running_ratio >= 0.5) AS users_with_half_count,
            max(size_ratio) AS most_of_bytes_ratio
        FROM mart.user_shares(archive => %(archive)s, since => %(since)s, until => %(until)s)
        GROUP BY interface, direction
        ORDER BY interface, direction DESC
        """,
        "These logs do not show who made the requests.",
    ),
    Section(
        "cache_hits",
        "Gets that found their file on disk",
        ("interface", "gets", "on disk", "on tape", "unknown", "hit ratio", "95 % from", "to"),
        """
        SELECT interface, get_count, cached_count, uncached_count, unknown_count,
            hit_ratio, hit_ratio_low, hit_ratio_high
        FROM (
            SELECT *, max(hit_ratio) OVER () AS highest_ratio
            FROM mart.cache_hits(
                archive => %(archive)s, since => %(since)s, until => %(until)s, grouped_by => 'interface'
            )
        ) AS hits
        WHERE highest_ratio IS NOT NULL ORDER BY interface
        """,
        "These logs do not show where the files were.",
    ),
    Section(
        "open_times",
        "How long gets waited for their file to open: below 8 s, below 60 s, below 130 s, and longer",
        ("SDSC's group", "gets", "of all"),
        """
        SELECT group_name, sum(request_count)::bigint AS request_count, sum(request_ratio) AS request_ratio
        FROM mart.open_time_bins(archive => %(archive)s, since => %(since)s, until => %(until)s)
        GROUP BY group_number, group_name
        ORDER BY group_number
        """,
        "These logs do not show how long files took to open.",
    ),
)

SOURCES = Section(
    "sources",
    "Lines of each source, of all time: each is loaded, already held, ignored or rejected",
    (
        "source",
        "format",
        "files",
        "lines",
        "loaded",
        "held",
        "ignored",
        "rejected",
        "first event",
        "last event",
    ),
    """
    SELECT source || CASE WHEN is_counted THEN '' ELSE ' (not counted: another source has its transfers)' END
            AS source,
        format, file_count, line_count, loaded_count, held_count, ignored_count, rejected_count,
        (first_event_at AT TIME ZONE archive_timezone)::date::text AS first_on,
        (last_event_at AT TIME ZONE archive_timezone)::date::text AS last_on
    FROM mart.source_states
    WHERE archive = %(archive)s
    ORDER BY source
    """,
    "No log was read.",
)
MISSING = Section(
    "missing",
    "What these logs do not report",
    ("not in the logs", "views of mart without it"),
    """
    SELECT fact, count(*) AS view_count
    FROM mart.coverage,
        regexp_split_to_table(substring(why FROM '^not in this log: (.*)$'), ', ') AS fact
    WHERE archive = %(archive)s AND state <> 'fed'
    GROUP BY fact
    ORDER BY view_count DESC, fact
    """,
    "Nothing that the views of mart need is missing.",
)
# What a report about an archive says first.
ABOUT = (SOURCES, MISSING)
