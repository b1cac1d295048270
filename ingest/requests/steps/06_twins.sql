-- Transfers that two logs report: `transfer_id` is in the log that is counted, `twin_id` in the other. Both
-- lines have the same machine, direction and size, and their ends differ by at most `clock_slack`.
--
-- If no line is missing, the lines are paired in order. Otherwise they are paired like parentheses, as opens
-- and transfers are (`pairs.py`).
WITH twin_events AS (
    SELECT
        transfers.id,
        transfers.is_counted,
        transfers.direction,
        transfers.host_id,
        transfers.size_bytes,
        transfers.is_failed,
        transfers.line_hash,
        transfers.occurrence,
        transfers.ended_at,
        transfers.ended_at
        - CASE WHEN transfers.is_counted THEN interval '0' ELSE %(clock_slack)s END AS placed_at,
        coalesce(
            transfers.ended_at - lag(transfers.ended_at) OVER alike > %(clock_slack)s, FALSE
        ) AS is_apart
    FROM transfers
    WHERE EXISTS (SELECT FROM transfers WHERE NOT transfers.is_counted)
    WINDOW
        alike AS (
            PARTITION BY
                transfers.direction, transfers.host_id, transfers.size_bytes, transfers.is_failed
            ORDER BY transfers.ended_at
        )
),

-- A file that is fetched repeatedly leaves runs of similar lines in both logs. The two lines of a transfer
-- are in the same run, because they are at most `clock_slack` apart.
twin_runs AS (
    SELECT
        twin_events.*,
        count(*) FILTER (WHERE twin_events.is_apart) OVER (
            PARTITION BY
                twin_events.direction, twin_events.host_id, twin_events.size_bytes, twin_events.is_failed
            ORDER BY twin_events.ended_at
        ) AS run_number
    FROM twin_events
),

twin_places AS (
    SELECT
        twin_runs.*,
        row_number() OVER (
            PARTITION BY
                twin_runs.direction,
                twin_runs.host_id,
                twin_runs.size_bytes,
                twin_runs.is_failed,
                twin_runs.run_number,
                twin_runs.is_counted
            ORDER BY twin_runs.ended_at, twin_runs.line_hash, twin_runs.occurrence
        ) AS place
    FROM twin_runs
),

twin_pairs AS (
    SELECT
        twin_places.*,
        count(*) OVER one_place = 2
        AND max(twin_places.ended_at) OVER one_place - min(twin_places.ended_at) OVER one_place
        <= %(clock_slack)s AS is_pair
    FROM twin_places
    WINDOW
        one_place AS (
            PARTITION BY
                twin_places.direction,
                twin_places.host_id,
                twin_places.size_bytes,
                twin_places.is_failed,
                twin_places.run_number,
                twin_places.place
        )
),

-- If no line of a run is missing, the first line in one log belongs to the first in the other, the second to
-- the second, and so on. (A run longer than the reach may continue outside the range that was read.)
twin_orders AS (
    SELECT
        twin_pairs.*,
        bool_and(twin_pairs.is_pair) OVER one_run
        AND max(twin_pairs.ended_at) OVER one_run - min(twin_pairs.ended_at) OVER one_run
        <= %(reach)s AS is_in_order
    FROM twin_pairs
    WINDOW
        one_run AS (
            PARTITION BY
                twin_pairs.direction,
                twin_pairs.host_id,
                twin_pairs.size_bytes,
                twin_pairs.is_failed,
                twin_pairs.run_number
        )
),

twins_in_order AS (
    SELECT
        max(twin_orders.id) FILTER (WHERE twin_orders.is_counted) AS transfer_id,
        max(twin_orders.id) FILTER (WHERE NOT twin_orders.is_counted) AS twin_id
    FROM twin_orders
    WHERE twin_orders.is_in_order
    GROUP BY
        twin_orders.direction,
        twin_orders.host_id,
        twin_orders.size_bytes,
        twin_orders.is_failed,
        twin_orders.run_number,
        twin_orders.place
),

-- In the other runs, a line that is not counted acts as the opening parenthesis, and a counted line as the
-- closing one. The opening line is shifted back by `clock_slack`, so that it comes first.
twin_levels AS (
    SELECT
        twin_orders.*,
        sum(CASE WHEN twin_orders.is_counted THEN -1 ELSE 1 END) OVER (
            PARTITION BY
                twin_orders.direction, twin_orders.host_id, twin_orders.size_bytes, twin_orders.is_failed
            ORDER BY
                twin_orders.placed_at, twin_orders.is_counted, twin_orders.line_hash, twin_orders.occurrence
            ROWS UNBOUNDED PRECEDING
        ) + twin_orders.is_counted::integer AS level
    FROM twin_orders
    WHERE NOT twin_orders.is_in_order
),

twin_neighbours AS (
    SELECT
        twin_levels.id,
        twin_levels.is_counted,
        twin_levels.ended_at,
        lag(twin_levels.id) OVER (one_level) AS twin_id,
        lag(twin_levels.ended_at) OVER (one_level) AS twin_ended_at
    FROM twin_levels
    WINDOW
        one_level AS (
            PARTITION BY
                twin_levels.direction,
                twin_levels.host_id,
                twin_levels.size_bytes,
                twin_levels.is_failed,
                twin_levels.level
            ORDER BY
                twin_levels.placed_at, twin_levels.is_counted, twin_levels.line_hash, twin_levels.occurrence
        )
)

SELECT
    twins_in_order.transfer_id,
    twins_in_order.twin_id
FROM twins_in_order
UNION ALL
SELECT
    twin_neighbours.id AS transfer_id,
    twin_neighbours.twin_id
FROM twin_neighbours
WHERE
    twin_neighbours.is_counted
    AND twin_neighbours.ended_at <= twin_neighbours.twin_ended_at + %(clock_slack)s
