"""A recount of `core.hit_cells` in SQL, which shares nothing with the code that writes them."""

import psycopg

from tests.recounts import CLIENTS, fill_cells, write_comparison

# As in mart.requests: what counts of core.requests, and each transfer that no row of it reports. A code is
# written as bits: days, joining, size class, saturated, day only, open time, persona, logged, staged.
_GETS = """
    SELECT requests.source_id, requests.interface, requests.class_of_service, requests.archive_id, host_id,
        ended_at,
        CASE WHEN opened_at IS NOT NULL THEN opened_at WHEN started_at IS NOT NULL THEN started_at
            ELSE ended_at END AS began_at,
        CASE WHEN submitted_at IS NOT NULL THEN submitted_at WHEN started_at IS NOT NULL THEN started_at
            ELSE ended_at END AS asked_at,
        size_bytes, open_s, num_nonnulls(stage_id, CASE WHEN is_joined THEN 1 END) > 0 AS is_staged,
        is_cached, num_nulls(persona, transfer_id) = 0 AS has_persona, false AS is_day_only,
        is_size_saturated, is_joined
    FROM core.requests WHERE is_counted AND direction = 'get' AND is_failed = false
    UNION ALL
    SELECT alone.source_id, interface, class_of_service, alone.archive_id, host_id, ended_at,
        CASE WHEN started_at IS NOT NULL THEN started_at ELSE ended_at END,
        CASE WHEN started_at IS NULL THEN ended_at ELSE
            started_at - coalesce(round(open_s * 1e6), 0) * interval '1 microsecond' END,
        size_bytes, open_s, false, NULL, persona IS NOT NULL, is_time_of_day_unknown, is_size_saturated, NULL
    FROM core.transfers AS alone JOIN ledger.sources ON sources.id = source_id AND is_counted
    WHERE is_failed = false AND direction = 'get' AND (alone.archive_id, ended_at, alone.id) NOT IN (
        SELECT archive_id, ended_at, transfer_id FROM core.requests WHERE transfer_id IS NOT NULL
    )
"""

_RECOUNT = f"""
    placed AS (
        SELECT gets.source_id, interface, class_of_service, client_id, size_bytes, is_staged,
            (ended_at AT TIME ZONE timezone)::date AS day,
            ((ended_at AT TIME ZONE timezone)::date - (began_at AT TIME ZONE timezone)::date)::bigint << 15
            | (CASE is_joined WHEN true THEN B'10' WHEN false THEN B'01' ELSE B'00' END
            || CASE WHEN size_bytes > 1000000000 THEN B'100' WHEN size_bytes >= 200000000 THEN B'011'
                WHEN size_bytes >= 2000000 THEN B'010' WHEN size_bytes >= 0 THEN B'001' ELSE B'000' END
            || is_size_saturated::integer::bit || is_day_only::integer::bit
            || CASE WHEN open_s >= 10 THEN B'1011' WHEN open_s >= 0 THEN (1 + floor(open_s))::integer::bit(4)
                ELSE B'0000' END
            || has_persona::integer::bit
            || CASE is_cached WHEN true THEN B'10' WHEN false THEN B'01' ELSE B'00' END
            || is_staged::integer::bit)::bit(15)::integer::bigint AS code
        FROM ({_GETS}) AS gets JOIN core.archives ON archives.id = archive_id {CLIENTS}
        WHERE kind <> 'simulated' OR archive_id IN (
            SELECT archive_id FROM studies.simulation_runs WHERE steady_at <= asked_at
        )
    ),
    entries AS (
        SELECT source_id, interface, class_of_service, client_id, day, code, bool_and(is_staged) AS is_staged,
            count(*) AS n, sum(coalesce(size_bytes, 0)) AS bytes
        FROM placed GROUP BY source_id, interface, class_of_service, client_id, day, code
    ),
    recount AS (
        SELECT source_id, interface, 'get' AS direction, class_of_service, client_id, day,
            coalesce(sum(n) FILTER (WHERE is_staged), 0) AS staged_count,
            array_agg(code ORDER BY code) AS codes, array_agg(n ORDER BY code) AS get_counts,
            array_agg(bytes ORDER BY code) AS size_bytes
        FROM entries GROUP BY source_id, interface, class_of_service, client_id, day
    )
"""

WRONG_HIT_CELLS = write_comparison("hit_cells", _RECOUNT, "day")


def fill_hit_cells(connection: psycopg.Connection) -> None:
    """Replace the cells by a recount, as if loading had inserted what was inserted into the tables."""
    fill_cells(connection, "hit_cells", _RECOUNT, "day, staged_count, codes, get_counts, size_bytes")
