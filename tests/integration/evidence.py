"""Reads a warehouse's contents and checks its ledger, with SQL that is independent of the tested code."""

import bz2
import gzip
import lzma
from collections import Counter
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
from backports import zstd
from psycopg import sql

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.facts import event_time_columns
from tests.day_cells import WRONG_CELLS, WRONG_ROUTES, WRONG_SIZES, WRONG_SPANS
from tests.filled_columns import MISSING_COLUMNS
from tests.hit_cells import WRONG_HIT_CELLS
from tests.hour_months import WRONG_HOUR_MONTHS
from tests.month_peaks import WRONG_MONTH_PEAKS
from tests.open_cells import WRONG_OPEN_CELLS, WRONG_OPEN_SPANS
from tests.rate_months import WRONG_RATE_MONTHS
from tests.request_cells import WRONG_REQUEST_CELLS, WRONG_REQUEST_SPANS
from tests.stage_cells import WRONG_STAGE_CELLS, WRONG_STAGE_SPANS
from tests.user_cells import NAMED_USER_CELLS, WRONG_USER_CELLS, WRONG_USER_SPANS

FACTS = tuple(event_time_columns)
ROLLUPS = (
    "activity_cells",
    "day_cells",
    "rate_months",
    "hour_months",
    "month_peaks",
    "size_cells",
    "request_cells",
    "hit_cells",
    "user_cells",
    "open_cells",
    "stage_cells",
)
# If facts are loaded in another way, their lineage and the ids of their names may differ.
LINEAGE = {"id", "log_file_id", "line_number"}
NAMED = {
    "archive_id": sql.SQL("archives.name"),
    "source_id": sql.SQL("sources.name"),
    "user_id": sql.SQL("users.name"),
    "host_id": sql.SQL("hosts.name"),
}

_ALL_FACTS = " UNION ALL ".join(
    "SELECT id, archive_id, source_id, log_file_id, line_number, line_hash, occurrence, ordinal, user_id,"
    f" host_id, {time} AS event_at, '{table}' AS fact_table FROM core.{table}"
    for table, time in event_time_columns.items()
)

LOADED_IS_NOT_THE_FACTS = """
    SELECT path, loaded_count, count(DISTINCT line_number) FROM ledger.log_files
    LEFT JOIN facts ON facts.log_file_id = log_files.id
    GROUP BY log_files.id HAVING loaded_count <> count(DISTINCT line_number)
"""

# For each violation, a query that returns the offending rows.
VIOLATIONS = {
    "the counts do not add up": """
        SELECT path, line_count, loaded_count, held_count, ignored_count, rejected_count FROM ledger.log_files
        WHERE line_count <> loaded_count + held_count + ignored_count + rejected_count
            OR least(line_count, loaded_count, held_count, ignored_count, rejected_count) < 0
    """,
    "loaded is not the number of facts by lineage": LOADED_IS_NOT_THE_FACTS,
    "ignored is not the sum of its reasons": """
        SELECT path, ignored_count, sum(ignored_lines.line_count) FROM ledger.log_files
        LEFT JOIN ledger.ignored_lines ON log_file_id = id
        GROUP BY id HAVING ignored_count <> coalesce(sum(ignored_lines.line_count), 0)
    """,
    "rejected is not the number of its lines": """
        SELECT path, rejected_count, count(line_number) FROM ledger.log_files
        LEFT JOIN ledger.rejected_lines ON log_file_id = id
        GROUP BY id HAVING rejected_count <> count(line_number)
    """,
    "a fact has no file or source": """
        SELECT facts.id, log_file_id, facts.source_id FROM facts
        LEFT JOIN ledger.log_files ON log_files.id = log_file_id AND log_files.source_id = facts.source_id
        LEFT JOIN ledger.sources ON sources.id = facts.source_id AND sources.archive_id = facts.archive_id
        WHERE log_files.id IS NULL OR sources.id IS NULL
    """,
    "a fact has no user or host of its archive": """
        SELECT facts.id, user_id, host_id FROM facts
        LEFT JOIN core.users ON users.id = user_id AND users.archive_id = facts.archive_id
        LEFT JOIN core.hosts ON hosts.id = host_id AND hosts.archive_id = facts.archive_id
        WHERE (user_id IS NOT NULL AND users.id IS NULL) OR (host_id IS NOT NULL AND hosts.id IS NULL)
    """,
    # Lines of most formats name a user and a host. STAT, tape servers and ACSLS name no user, the HSI and
    # HTAR clients, XRootD's cache and IBM's libraries name neither, and dCache, SAM-QFS, CTA and listings
    # name one or none. Otherwise, only copies inside the archive, jobs, stages and simulated facts have no
    # host.
    "a fact has lost its user or host": """
        SELECT facts.id, facts.user_id, facts.host_id FROM facts LEFT JOIN core.transfers USING (id)
        JOIN ledger.sources ON sources.id = facts.source_id
        -- What a site's own layout tells is the site's affair.
        WHERE layout_text IS NULL
        AND format NOT IN ('hpss-daily', 'dcache', 'dcache-json', 'samqfs', 'xrdpfc')
        AND format NOT IN ('cta', 'cta-text', 'cta-syslog', 'cta-listing', 'ts4500')
        AND format NOT IN ('snapshot', 'snapshot-csv', 'hpss-listing')
        AND (
            (facts.user_id IS NULL)
                <> (format IN ('stat', 'unitree-tape', 'library-trace', 'hsi-client', 'acsls'))
            OR (transfers.id IS NOT NULL AND facts.host_id IS NULL
                AND format NOT IN ('simulation', 'hsi-client'))
        )
    """,
    "a file without a day where its lines have none, or with one where they have": """
        SELECT path, log_date FROM ledger.log_files JOIN ledger.sources ON sources.id = source_id
        WHERE (log_date IS NULL) <> (format NOT IN ('cond', 'yearless', 'hsi-client', 'dcache', 'cta-text'))
    """,
    "a job ended on another day than its file's": """
        SELECT path, log_date, ended_at FROM core.unitree_jobs
        JOIN ledger.log_files ON log_files.id = log_file_id
        JOIN ledger.sources ON sources.id = log_files.source_id
        WHERE log_date IS NULL OR (ended_at AT TIME ZONE timezone)::date <> log_date
    """,
    "a line has two fates, or is not in its file": """
        SELECT path, line_number, count(*), line_count FROM (
            SELECT log_file_id, line_number FROM facts WHERE ordinal = 0
            UNION ALL SELECT log_file_id, line_number FROM ledger.rejected_lines
        ) AS fates JOIN ledger.log_files ON log_files.id = log_file_id
        GROUP BY log_files.id, line_number HAVING count(*) > 1 OR line_number NOT BETWEEN 1 AND line_count
    """,
    # Moving a fact to the second pass of a repeated hour does not change its identity.
    "an identity occurs twice": """
        SELECT source_id, event_at AT TIME ZONE timezone, line_hash, occurrence, count(*) FROM facts
        JOIN ledger.sources ON sources.id = source_id WHERE ordinal = 0
        GROUP BY source_id, event_at AT TIME ZONE timezone, line_hash, occurrence HAVING count(*) > 1
    """,
    "a further fact has no line, or occurs twice": """
        SELECT further.log_file_id, further.line_number, further.fact_table, further.ordinal, count(*)
        FROM facts AS further LEFT JOIN facts AS first
            ON first.log_file_id = further.log_file_id AND first.line_number = further.line_number
            AND first.ordinal = 0 AND first.event_at >= further.event_at
            AND first.line_hash = further.line_hash AND first.occurrence = further.occurrence
        WHERE further.ordinal > 0
        GROUP BY further.log_file_id, further.line_number, further.fact_table, further.ordinal
        HAVING count(*) > 1 OR count(first.id) = 0
    """,
    "the ledger's rows by load, table and month are not those that exist": """
        SELECT * FROM (
            SELECT log_file_id, fact_table, date_trunc('month', event_at AT TIME ZONE 'UTC')::date AS month, (
                SELECT max(load_id) FROM ledger.loaded_rows
                WHERE loaded_rows.log_file_id = facts.log_file_id AND load_id <= facts.id
            ) AS load_id, count(*) AS row_count
            FROM facts GROUP BY 1, 2, 3, 4
        ) AS counted FULL JOIN (SELECT * FROM ledger.loaded_rows WHERE row_count > 0) AS noted
            USING (log_file_id, load_id, fact_table, month)
        WHERE counted.row_count IS DISTINCT FROM noted.row_count
    """,
    "the repeats of a line are not numbered from 0 on": """
        SELECT source_id, event_at AT TIME ZONE timezone, line_hash, array_agg(occurrence) FROM facts
        JOIN ledger.sources ON sources.id = source_id WHERE ordinal = 0
        GROUP BY source_id, event_at AT TIME ZONE timezone, line_hash
        HAVING min(occurrence) <> 0 OR max(occurrence) <> count(*) - 1
    """,
    "a row number occurs twice": "SELECT id, count(*) FROM facts GROUP BY id HAVING count(*) > 1",
    "a file's facts are outside its times": """
        SELECT path, first_event_at, last_event_at, min(event_at), max(event_at) FROM ledger.log_files
        JOIN facts ON facts.log_file_id = log_files.id GROUP BY log_files.id
        HAVING (min(event_at) < first_event_at OR max(event_at) > last_event_at) IS NOT FALSE
    """,
    "segments overlap, or extend beyond their file": """
        SELECT path, first_line_number, segments.line_count, next FROM (
            SELECT *, lead(first_line_number) OVER (
                PARTITION BY log_file_id ORDER BY first_line_number) AS next
            FROM ledger.segments
        ) AS segments JOIN ledger.log_files ON log_files.id = log_file_id
        WHERE first_line_number + segments.line_count > coalesce(next, log_files.line_count + 1)
            OR segments.source_id <> log_files.source_id
    """,
    "a segment's rejected lines are not those of the ledger": """
        SELECT log_file_id, first_line_number, rejected_counts FROM ledger.segments
        WHERE rejected_counts <> (
            SELECT coalesce(jsonb_object_agg(reason, line_count), '{}') FROM (
                SELECT reason, count(*) AS line_count FROM ledger.rejected_lines
                WHERE rejected_lines.log_file_id = segments.log_file_id AND line_number >= first_line_number
                    AND line_number < first_line_number + segments.line_count
                GROUP BY reason
            ) AS counted
        )
    """,
    "a segment has facts that are not in the warehouse": """
        SELECT path, first_line_number, fact_count, count(facts.id) FROM ledger.segments
        JOIN ledger.log_files ON log_files.id = log_file_id
        LEFT JOIN facts ON facts.log_file_id = segments.log_file_id AND line_number >= first_line_number
            AND line_number < first_line_number + segments.line_count AND ordinal = 0
        GROUP BY segments.log_file_id, first_line_number, path, held_count
        HAVING fact_count < count(facts.id) OR fact_count > count(facts.id) + held_count
    """,
    # Before `retained_since`, only the cells remain.
    "the cells are not a recount of the transfers": """
        WITH counted AS (
            SELECT transfers.archive_id,
                ended_at - make_interval(secs => (
                    extract(epoch FROM ended_at AT TIME ZONE archives.timezone) % 600)::float8) AS cell_at,
                interface, direction, is_failed, is_size_saturated, size_bytes,
                duration_s * 1e6 AS duration_us, is_time_of_day_unknown,
                'transfers' = ANY(failure_tables) AS has_failures
            FROM core.transfers JOIN core.archives ON archives.id = transfers.archive_id
            JOIN ledger.sources ON sources.id = transfers.source_id
            WHERE is_counted OR (is_failed AND failures_as IS NOT NULL)
        ), recount AS (
            SELECT archive_id, cell_at, interface, direction, count(*),
                count(*) FILTER (WHERE is_failed),
                count(*) FILTER (WHERE is_size_saturated AND NOT is_failed),
                coalesce(sum(size_bytes) FILTER (WHERE NOT is_failed), 0)::bigint,
                coalesce(sum(
                    floor(duration_us) + (duration_us - floor(duration_us) >= 0.5)::integer
                ) FILTER (WHERE NOT is_failed), 0)::bigint,
                is_time_of_day_unknown,
                count(*) FILTER (WHERE NOT has_failures),
                count(*) FILTER (WHERE NOT is_failed AND size_bytes IS NULL),
                count(*) FILTER (WHERE NOT is_failed AND duration_us IS NULL)
            FROM counted GROUP BY archive_id, cell_at, interface, direction, is_time_of_day_unknown
        ), held AS (
            SELECT activity_cells.* FROM core.activity_cells JOIN core.archives ON archives.id = archive_id
            WHERE cell_at >= coalesce(retained_since, '-infinity')
        )
        (SELECT 'recounted', * FROM (TABLE recount EXCEPT ALL TABLE held) AS missing)
        UNION ALL
        (SELECT 'held', * FROM (TABLE held EXCEPT ALL TABLE recount) AS surplus)
    """,
    "the ledger does not name a column in which facts have values": MISSING_COLUMNS,
    "the day cells are not a recount of the transfers": WRONG_CELLS,
    "a month of rates is not the sum of its days": WRONG_RATE_MONTHS,
    "a month of hours is not the sum of its days": WRONG_HOUR_MONTHS,
    "the busiest ten minutes of a month are others": WRONG_MONTH_PEAKS,
    "the size cells are not a recount of the transfers": WRONG_SIZES,
    "a month or year of sizes is not the sum of its days": WRONG_SPANS,
    "the request cells are not a recount of the requests": WRONG_REQUEST_CELLS,
    "a month or year of requests is not the sum of its days": WRONG_REQUEST_SPANS,
    "the open cells are not a recount of the requests": WRONG_OPEN_CELLS,
    "a month or year of open times is not the sum of its days": WRONG_OPEN_SPANS,
    "the hit cells are not a recount of the gets": WRONG_HIT_CELLS,
    "the user cells are not a recount of the requests": WRONG_USER_CELLS,
    "a month or year of users is not the sum of its days": WRONG_USER_SPANS,
    "the stage cells are not a recount of the stages": WRONG_STAGE_CELLS,
    "a month or year of stages is not the sum of its days": WRONG_STAGE_SPANS,
    "a route has no cell": WRONG_ROUTES,
    "a fact is from a time that its archive has forgotten": """
        SELECT facts.id, event_at, retained_since FROM facts JOIN core.archives ON archives.id = archive_id
        WHERE event_at < retained_since
    """,
    "a known segment reaches into a forgotten time": """
        SELECT log_file_id, first_line_number, first_event_at, retained_since FROM ledger.segments
        JOIN ledger.sources ON sources.id = source_id JOIN core.archives ON archives.id = archive_id
        WHERE first_event_at < retained_since
    """,
}


def check_warehouse(warehouse: Warehouse) -> None:
    """Assert that the ledger, the facts and the cells agree with each other and with the files on disk."""
    with closing(warehouse.connect(Role.OWNER)) as connection:
        _gather_facts(connection)
        found = {
            name: rows
            for name, query in VIOLATIONS.items()
            if (rows := connection.execute(query).fetchmany(5))
        }
        assert not found, found
        newest = connection.execute(
            "SELECT DISTINCT ON (source_id, path) path, read_bytes, waiting_bytes, line_count"
            " FROM ledger.log_files ORDER BY source_id, path, id DESC"
        ).fetchall()
    for path, read_bytes, waiting_bytes, line_count in newest:
        if not Path(path).exists():  # renamed by the test
            continue
        content = decompress(Path(path))
        # Without --complete, an unfinished last line is not read yet and counts as waiting.
        unfinished = read_bytes > 0 and content[read_bytes - 1 : read_bytes] != b"\n"
        assert (len(content), path) == (read_bytes + waiting_bytes, path)
        assert (line_count, path) == (content[:read_bytes].count(b"\n") + unfinished, path)


def _gather_facts(connection: psycopg.Connection) -> None:
    """Copy the facts into a temporary table, because planning queries over all partitions is slow."""
    connection.execute("CREATE TEMPORARY TABLE facts AS " + _ALL_FACTS)
    connection.execute("ANALYZE facts")


def decompress(path: Path) -> bytes:
    match path.suffix:
        case ".gz":
            return gzip.decompress(path.read_bytes())
        case ".bz2":
            return bz2.decompress(path.read_bytes())
        case ".xz":
            return lzma.decompress(path.read_bytes())
        case ".zst":
            return zstd.decompress(path.read_bytes())
    return path.read_bytes()


def read_facts(warehouse: Warehouse) -> dict[str, Counter[tuple[Any, ...]]]:
    """Return the rows of all fact tables and the cells, without lineage and with names instead of ids."""
    with closing(warehouse.connect(Role.OWNER)) as connection:
        return {
            table: Counter(connection.execute(_facts_query(connection, table)).fetchall())
            for table in (*FACTS, *ROLLUPS)
        }


def digest_facts(warehouse: Warehouse) -> dict[str, tuple[int, Decimal]]:
    """Summarize each table of `read_facts` as a row count and a sum of hashes, for use with many rows."""
    with closing(warehouse.connect(Role.OWNER)) as connection:
        return {
            table: connection.execute(
                sql.SQL(
                    "SELECT count(*), coalesce(sum(hash_record_extended(fact, 0)::numeric), 0)"
                    " FROM ({}) AS fact"
                ).format(_facts_query(connection, table))
            ).fetchone()
            for table in (*FACTS, *ROLLUPS)
        }


def _facts_query(connection: psycopg.Connection, table: str) -> sql.Composable:
    if table == "user_cells":
        return sql.SQL(NAMED_USER_CELLS)
    if table in ROLLUPS and table not in (
        "activity_cells",
        "month_peaks",
    ):  # with arrays, and the numbers of routes
        return sql.SQL(
            "SELECT archives.name, sources.name, interface, direction, class_of_service, hosts.name,"
            " (to_jsonb(rows) - 'route_id')::text FROM {} AS rows"
            " JOIN core.routes ON routes.id = route_id JOIN ledger.sources ON sources.id = source_id"
            " JOIN core.archives ON archives.id = archive_id LEFT JOIN core.hosts ON hosts.id = client_id"
        ).format(sql.Identifier("core", table))
    columns = [
        row[0]
        for row in connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
            " AND NOT attisdropped ORDER BY attnum",
            [f"core.{table}"],
        )
        if row[0] not in LINEAGE
    ]
    sizeless = ("opens", "unitree_jobs", "daily_reports", "srb_sessions", "cache_reads", "month_peaks")
    assert "size_bytes" in columns or table in sizeless
    joins = " LEFT JOIN core.archives ON archives.id = rows.archive_id"
    if table in FACTS:
        joins += (
            " LEFT JOIN ledger.sources ON sources.id = rows.source_id"
            " LEFT JOIN core.users ON users.id = rows.user_id LEFT JOIN core.hosts ON hosts.id = rows.host_id"
        )
    return sql.SQL("SELECT {} FROM core.{} AS rows" + joins).format(
        sql.SQL(", ").join(NAMED.get(name, sql.Identifier("rows", name)) for name in columns),
        sql.Identifier(table),
    )


def read_balance(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    """Return the ledger's rows in order, with every detail that a second load should reproduce."""
    with closing(warehouse.connect(Role.OWNER)) as connection:
        return connection.execute(
            "SELECT path, log_date, content_digest, read_bytes, waiting_bytes, first_event_at, last_event_at,"
            " line_count, loaded_count, held_count, ignored_count, rejected_count,"
            " (SELECT array_agg((reason, line_count)::text ORDER BY reason) FROM ledger.ignored_lines"
            "  WHERE log_file_id = log_files.id),"
            " (SELECT array_agg((line_number, reason, line_hash, text)::text ORDER BY line_number)"
            "  FROM ledger.rejected_lines WHERE log_file_id = log_files.id)"
            " FROM ledger.log_files ORDER BY id"
        ).fetchall()


def count_for_the_planner(warehouse: Warehouse) -> float:
    """Return the planner's estimate of the number of archives; -1 if the table was never analysed."""
    with closing(warehouse.connect(Role.OWNER)) as connection:
        query = "SELECT reltuples FROM pg_class WHERE oid = 'core.archives'::regclass"
        [(count,)] = connection.execute(query).fetchall()
    assert isinstance(count, float)
    return count


def check_lineage(warehouse: Warehouse) -> None:
    """Assert that `loaded_count` equals a recount. Equal facts and counts would not prove this."""
    with closing(warehouse.connect(Role.OWNER)) as connection:
        _gather_facts(connection)
        assert connection.execute(LOADED_IS_NOT_THE_FACTS).fetchall() == []
