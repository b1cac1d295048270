"""The questions of `benchmarks.reports`: calls of functions of mart about all time, and the same in DuckDB.

A question in DuckDB returns the columns that `same` selects from the answer of the function, so that
`tests/integration/test_benchmark_peers.py` can compare them. It is written for logs like the benchmark's,
without outages and jobs, whose files are not renamed. DuckDB reads transfers, requests (with what belongs
together already found), deletes, mounts and operations of tapes; local days are those of the logs' own zone.

The module is long because it is one list: hardly anything in it but SQL, by topic.
"""

from dataclasses import dataclass

from benchmarks.answers import ARCHIVE
from tapewise.ingest.upkeep.kept_answers import Call


@dataclass(frozen=True)
class Question:
    """A call without filters, and the same question in DuckDB, if there is one.

    `same` is the end of a query `SELECT ...` that gives the rows that both have, with the call as {}.
    """

    call: Call
    peer: str | None = None
    same: str = ""

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.call.function


def ask(function: str, peer: str | None = None, same: str = "", **given: str) -> Question:
    """Make a question; `given` are texts."""
    columns, _, rest = same.partition("|")
    return Question(
        Call(ARCHIVE, function, tuple((name, f"'{text}'") for name, text in given.items())),
        peer,
        f"SELECT {columns} FROM {{}} AS answer {rest}" if same else "",
    )


MICROSECONDS = "(extract(epoch FROM {}) * 1000000)::bigint"  # of PostgreSQL
# Whole seconds say little about a time of a few.
PRECISE = "NOT (is_duration_coarse AND duration_s < 10)"
LOCAL_DAY = "(ended_at AT TIME ZONE 'America/Los_Angeles')::date"
# By the hour, day or month of the logs' zone: its clocks do not change in the logs.
LOAD = """
    SELECT period, sum(epoch(least(until_at, period + INTERVAL 1 {0}) - greatest(since_at, period)))
    FROM (
        SELECT since_at, until_at,
            unnest(generate_series(date_trunc('{0}', since_at), until_at, INTERVAL 1 {0})) AS period
        FROM (
            SELECT started_at AT TIME ZONE 'America/Los_Angeles' AS since_at,
                ended_at AT TIME ZONE 'America/Los_Angeles' AS until_at
            FROM transfers WHERE started_at < ended_at
        )
    ) GROUP BY ALL HAVING sum(epoch(least(until_at, period + INTERVAL 1 {0}) - greatest(since_at,
        period))) > 0"""
SAME_LOAD = "starts_at AT TIME ZONE 'America/Los_Angeles', transfer_s|WHERE transfer_s > 0"
# A version of a file begins with a put, or with what first mentions a name.
USES = """
    WITH events AS (
        SELECT file_key, direction AS event, size_bytes, archive_path, account, ended_at AS happened_at
        FROM transfers WHERE NOT is_failed AND file_key IS NOT NULL
        UNION ALL
        SELECT file_key, 'delete', NULL, NULL, NULL, happened_at FROM deletes
    ), numbered AS (
        SELECT *, count(*) FILTER (WHERE event = 'put') OVER spans
            + count(*) FILTER (WHERE event = 'delete') OVER before AS number
        FROM events
        WINDOW
            spans AS (PARTITION BY file_key ORDER BY happened_at, event DESC ROWS UNBOUNDED PRECEDING),
            before AS (
                PARTITION BY file_key ORDER BY happened_at, event DESC ROWS BETWEEN UNBOUNDED PRECEDING
                    AND 1 PRECEDING
            )
    ), versions AS (
        SELECT file_key, number, min(happened_at) AS first_at, arg_min(archive_path, happened_at)
            AS archive_path,
            arg_min(account, happened_at) AS account,
            bool_or(event = 'put') AS is_put, count(*) FILTER (WHERE event = 'get') AS get_count,
            min(happened_at) FILTER (WHERE event = 'get') AS first_get_at,
            max(happened_at) FILTER (WHERE event IN ('put', 'get')) AS last_used_at,
            coalesce(arg_min(size_bytes, happened_at) FILTER (WHERE event = 'put'), max(size_bytes))
                AS size_bytes,
            max(happened_at) FILTER (WHERE event = 'delete') AS deleted_at,
            lead(min(happened_at) FILTER (WHERE event = 'put')) OVER (PARTITION BY file_key ORDER BY number)
                AS overwritten_at
        FROM numbered GROUP BY file_key, number
    ), log AS (
        SELECT greatest((SELECT max(ended_at) FROM transfers WHERE NOT is_failed),
            (SELECT max(happened_at) FROM deletes)) AS ends_at
    )"""
COLD = f"""{USES}
    SELECT {{0}} CASE WHEN idle_days < 1 THEN 0 WHEN idle_days < 7 THEN 1 WHEN idle_days < 30 THEN 7
            WHEN idle_days < 90 THEN 30 WHEN idle_days < 365 THEN 90 WHEN idle_days >= 365 THEN 365 END,
        count(*), coalesce(sum(size_bytes), 0), count(*) FILTER (WHERE is_put AND get_count = 0)
    FROM (
        SELECT *, epoch(ends_at - last_used_at) / 86400 AS idle_days FROM versions, log
        WHERE deleted_at IS NULL AND overwritten_at IS NULL
    ) GROUP BY ALL"""
SAME_COLD = "idle_from_days, file_count, size_bytes, never_read_count"
FOLDER = r"coalesce(regexp_extract(archive_path, '^(/[^/]+/[^/]+)/', 1), '')"
# A burst begins when its user was idle for a minute.
BURSTS = """
    SELECT *, coalesce(epoch(asked_at - max(ended_at) OVER (
        PARTITION BY user_id, interface, direction ORDER BY asked_at, ended_at, size_bytes
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) > 60, TRUE) AS is_first
    FROM requests WHERE NOT is_failed AND user_id IS NOT NULL"""
# The next attempt of the same user at the same file, and the next success.
TRIES = """
    SELECT *, lead(ended_at) OVER (PARTITION BY user_id, direction, file_key ORDER BY ended_at, transfer_id)
            AS retried_at,
        min(ended_at) FILTER (WHERE NOT is_failed) OVER (
            PARTITION BY user_id, direction, file_key ORDER BY ended_at DESC) AS made_good_at
    FROM requests"""


def share(holder: str) -> str:
    """Write the shares of whom the column `holder` names."""
    return (
        f"SELECT count(*), sum(size_bytes) FROM requests WHERE NOT is_failed AND {holder} IS NOT NULL"
        f" GROUP BY {holder}"
    )


def share_projects(holder: str) -> str:
    """Write the requests and bytes of each `holder`, an expression."""
    return (
        f"SELECT {holder} AS holder, count(*), sum(size_bytes), epoch_us(min(ended_at)),"
        f" epoch_us(max(ended_at))"
        f" FROM transfers WHERE NOT is_failed AND {holder} <> '' GROUP BY ALL"
    )


def use_accounts(period: str) -> str:
    """Write what each account moved, by day or month."""
    return f"""
        SELECT account, date_trunc('{period}', ended_at AT TIME ZONE 'America/Los_Angeles')::date,
            count(*) FILTER (WHERE direction = 'put' AND NOT is_failed),
            count(*) FILTER (WHERE direction = 'get' AND NOT is_failed),
            count(*) FILTER (WHERE is_failed), count(DISTINCT user_id)
        FROM transfers WHERE account IS NOT NULL GROUP BY ALL"""


# The figures of two archives without what chance makes of them: DuckDB draws no days again.
TIMES = """
    SELECT coalesce(direction, 'all'), unnest(['mean', 'p50', 'p90', 'p99']),
        unnest([avg(duration_s)] || quantile_disc(duration_s, [0.5, 0.9, 0.99]))
    FROM requests WHERE NOT is_failed AND duration_s IS NOT NULL
    GROUP BY GROUPING SETS ((direction), ())"""
SAME_TIMES = "direction, statistic, {}|WHERE quantity = 'transfer time'"
SAME_ACCOUNTS = "account, starts_on, put_count, get_count, failed_count, user_count"
SAME_SHARE = "request_count, size_bytes"
SAME_PROJECTS = (
    f"holder, request_count, size_bytes, {MICROSECONDS.format('first_at')}, {MICROSECONDS.format('last_at')}"
)

# In the order of what they are about: load, files, cache, failures, shares, sizes, rates and bursts.
QUESTIONS = [
    ask("load_over_time", LOAD.format("hour"), SAME_LOAD),
    ask("load_over_time", LOAD.format("day"), SAME_LOAD, period="day"),
    ask("load_over_time", LOAD.format("month"), SAME_LOAD, period="month"),
    ask("concurrency", """
        SELECT under_way, sum(epoch(lasting)) FROM (
            SELECT sum(step) OVER in_time AS under_way, lead(moment) OVER in_time - moment AS lasting FROM (
                SELECT started_at AS moment, 1 AS step FROM transfers WHERE started_at < ended_at
                UNION ALL SELECT ended_at, -1 FROM transfers WHERE started_at < ended_at
            ) WINDOW in_time AS (ORDER BY moment)
        ) GROUP BY ALL HAVING under_way > 0 AND sum(epoch(lasting)) > 0""",
        "under_way, lasting_s|WHERE lasting_s > 0 AND under_way > 0"),
    ask("idle_intervals", """
        SELECT epoch_us(quiet_from), epoch_us(started_at), epoch(started_at - quiet_from) FROM (
            SELECT started_at, max(ended_at) OVER (ORDER BY started_at, ended_at
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS quiet_from
            FROM transfers
        ) WHERE started_at - quiet_from >= INTERVAL 600 SECONDS""",
        f"{MICROSECONDS.format('started_at')}, {MICROSECONDS.format('ended_at')}, idle_s"),
    ask("activity", """
        SELECT interface, direction, epoch_us(time_bucket(INTERVAL 10 MINUTES, ended_at)), count(*),
            sum(size_bytes) FILTER (WHERE NOT is_failed)
        FROM transfers GROUP BY ALL""",
        f"interface, direction, {MICROSECONDS.format('starts_at')}, transfer_count, nullif(size_bytes, 0)",
        period="ten_minutes"),
    ask("activity", f"""
        SELECT interface, direction, {LOCAL_DAY}, count(*), sum(size_bytes) FILTER (WHERE NOT is_failed)
        FROM transfers GROUP BY ALL""",
        "interface, direction, starts_on, transfer_count, nullif(size_bytes, 0)", period="day"),
    ask("daily_activity", f"""
        SELECT {LOCAL_DAY}, count(*), sum(size_bytes) FILTER (WHERE NOT is_failed)
        FROM transfers GROUP BY ALL""",
        "starts_on, transfer_count, size_bytes", grouped_by="{}"),
    ask("hour_profiles", """
        SELECT isodow(ended_at AT TIME ZONE 'America/Los_Angeles'),
            hour(ended_at AT TIME ZONE 'America/Los_Angeles'), count(*),
            sum(size_bytes) FILTER (WHERE NOT is_failed)
        FROM transfers GROUP BY ALL""",
        "weekday, hour, transfer_count, size_bytes"),
    ask("records", f"""
        SELECT max(transfer_count) FROM (SELECT count(*) AS transfer_count FROM transfers
            GROUP BY {LOCAL_DAY})""",
        "value::bigint|WHERE record_number = 1"),
    ask("growth", """
        SELECT date_trunc('month', happened_at AT TIME ZONE 'America/Los_Angeles')::date, count(*),
            sum(size_bytes) FROM (
            SELECT ended_at AS happened_at, size_bytes FROM transfers WHERE direction = 'put'
                AND NOT is_failed
            UNION ALL SELECT happened_at, size_bytes FROM copies
        ) GROUP BY ALL""",
        "date_trunc('month', starts_on)::date, added_count, added_bytes", period="month"),
    ask("growth_forecast"),
    ask("net_growth", f"""{USES}, changes AS (
            SELECT ended_at AS happened_at, 1 AS put_count, 0 AS deleted_count, 0 AS overwritten_count,
                size_bytes AS put_bytes
            FROM transfers WHERE direction = 'put' AND NOT is_failed
            UNION ALL SELECT happened_at, 0, 0, 0, 0 FROM copies
            UNION ALL SELECT deleted_at, 0, 1, 0, 0 FROM versions WHERE deleted_at IS NOT NULL
            UNION ALL SELECT overwritten_at, 0, 0, 1, 0 FROM versions WHERE overwritten_at IS NOT NULL
        )
        SELECT (happened_at AT TIME ZONE 'America/Los_Angeles')::date, sum(put_count), sum(deleted_count),
            sum(overwritten_count), sum(put_bytes)
        FROM changes GROUP BY ALL""",
        "starts_on, put_count, deleted_count, overwritten_count, put_bytes"),
    ask("access_ages", """
        SELECT count(*), count(*) FILTER (WHERE put_at IS NULL), sum(size_bytes) FROM (
            SELECT direction, size_bytes, max(ended_at) FILTER (WHERE direction = 'put') OVER (
                PARTITION BY file_key ORDER BY ended_at) AS put_at
            FROM transfers WHERE NOT is_failed AND file_key IS NOT NULL
        ) WHERE direction = 'get'""",
        "sum(get_count), coalesce(sum(get_count) FILTER (WHERE age_s IS NULL), 0), sum(size_bytes)"),
    ask("cold_data", COLD.format(""), SAME_COLD),
    ask("file_fates", f"""{USES}
        SELECT after_days, count(*), sum(size_bytes),
            count(*) FILTER (WHERE epoch(first_get_at - first_at) < 86400 * after_days)
        FROM versions, (VALUES (30), (90), (365)) AS days (after_days) WHERE is_put GROUP BY ALL""",
        "after_days, put_count, put_bytes, read_count"),
    ask("working_sets", f"""
        SELECT day, sum(uses), count(*), sum(size_bytes) FROM (
            SELECT {LOCAL_DAY} AS day, count(*) AS uses, max(size_bytes) AS size_bytes
            FROM transfers WHERE NOT is_failed AND file_key IS NOT NULL GROUP BY day, file_key
        ) GROUP BY ALL""",
        "(starts_at AT TIME ZONE 'America/Los_Angeles')::date, use_count, file_count, size_bytes"),
    ask("popularity", """
        SELECT top_ratio, count(*), sum(get_count),
            sum(get_count) FILTER (WHERE place <= ceil(files * top_ratio))
        FROM (
            SELECT count(*) AS get_count, row_number() OVER (ORDER BY count(*) DESC) AS place,
                count(*) OVER () AS files
            FROM transfers WHERE NOT is_failed AND direction = 'get' AND file_key IS NOT NULL
                GROUP BY file_key
        ), (VALUES (0.01), (0.1)) AS ratios (top_ratio) GROUP BY ALL""",
        "top_ratio, file_count, get_count, top_get_count"),
    ask("file_successors", """
        SELECT row_number() OVER (ORDER BY pair_count DESC), pair_count FROM (
            SELECT count(*) AS pair_count FROM (
                SELECT file_key, lead(file_key) OVER of_user AS next_key,
                    epoch(lead(started_at) OVER of_user - ended_at) AS pause_s
                FROM transfers WHERE direction = 'get' AND NOT is_failed AND file_key IS NOT NULL
                WINDOW of_user AS (PARTITION BY user_id ORDER BY ended_at, transfer_id)
            ) WHERE next_key <> file_key AND pause_s <= 60 GROUP BY file_key, next_key
            ORDER BY pair_count DESC LIMIT 100
        )""",
        "pair_rank, pair_count"),
    ask("successor_figures", """
        SELECT count(*), count(DISTINCT file_key), count(*) FILTER (next_key <> file_key
            AND pause_s <= 60) FROM (
            SELECT file_key, lead(file_key) OVER of_user AS next_key,
                epoch(lead(started_at) OVER of_user - ended_at) AS pause_s
            FROM transfers WHERE direction = 'get' AND NOT is_failed AND file_key IS NOT NULL
            WINDOW of_user AS (PARTITION BY user_id ORDER BY ended_at, transfer_id)
        )""",
        "get_count, file_count, followed_count"),
    ask("cache_hits", """
        SELECT count(*), count(*) FILTER (WHERE is_cached), count(*) FILTER (WHERE NOT is_cached),
            sum(size_bytes) FILTER (WHERE is_cached)
        FROM requests WHERE direction = 'get' AND NOT is_failed""",
        "get_count, cached_count, uncached_count, cached_bytes"),
    ask("hits_by_age", """
        SELECT CASE WHEN file_key IS NULL THEN 'unknown' WHEN used_at IS NULL THEN 'before the log'
                ELSE 'in the log' END,
            count(*), count(*) FILTER (WHERE is_cached)
        FROM (
            SELECT *, lag(ended_at) OVER (PARTITION BY file_key ORDER BY ended_at, transfer_id) AS used_at
            FROM requests WHERE NOT is_failed
        ) WHERE direction = 'get' GROUP BY ALL""",
        "last_use, sum(get_count), sum(cached_count)|GROUP BY last_use"),
    ask("open_times", """
        SELECT floor(open_s), count(*) FROM requests WHERE open_s IS NOT NULL AND NOT is_failed
            GROUP BY ALL""",
        "open_floor_s, request_count", grouped_by="{}"),
    ask("open_time_clusters", """
        SELECT CASE WHEN open_s < 8 THEN 1 WHEN open_s < 60 THEN 2 WHEN open_s < 130 THEN 3 ELSE 4 END,
            count(*), min(open_s), max(open_s), avg(open_s)
        FROM requests WHERE direction = 'get' AND NOT is_failed AND open_s IS NOT NULL
            AND size_bytes BETWEEN 90000000 AND 110000000
        GROUP BY ALL""",
        "group_number, request_count, min_open_s, max_open_s, mean_open_s|WHERE request_count > 0"),
    ask("failures", f"""
        SELECT count(*), count(*) FILTER (WHERE is_failed),
            count(*) FILTER (WHERE is_failed AND epoch(retried_at - ended_at) <= 86400),
            count(*) FILTER (WHERE is_failed AND epoch(made_good_at - ended_at) <= 86400)
        FROM ({TRIES})""",
        "attempt_count, failed_count, retried_count, made_good_count"),
    ask("failures", """
        SELECT status_code, count(*) FROM transfers WHERE is_failed GROUP BY ALL""",
        "status_code, sum(failed_count)|WHERE failed_count > 0 GROUP BY status_code", grouped_by="{code}"),
    ask("retries", f"""
        SELECT transfer_id, coalesce(epoch(retried_at - ended_at) <= 86400, FALSE),
            coalesce(epoch(made_good_at - ended_at) <= 86400, FALSE)
        FROM ({TRIES}) WHERE is_failed""",
        "transfer_id, coalesce(is_retried, false), coalesce(is_made_good, false)"),
    ask("shares", share("user_id"), SAME_SHARE),
    ask("shares", share("user_id"), SAME_SHARE, ranked_by="bytes"),
    ask("shares", share("client"), SAME_SHARE, shared_by="client"),
    ask("shares", share("client"), SAME_SHARE, shared_by="client", ranked_by="bytes"),
    ask("shares", share("class_of_service"), SAME_SHARE, shared_by="class_of_service"),
    ask("user_shares", f"""
        SELECT interface, direction, user_id, count(*) FILTER (WHERE is_first), count(*), sum(size_bytes)
        FROM ({BURSTS}) GROUP BY ALL""",
        "interface, direction, user_id, burst_count, request_count, size_bytes"),
    ask("project_shares", share_projects("account"), SAME_PROJECTS),
    ask("project_shares", share_projects("account"), SAME_PROJECTS,
        ranked_by="bytes"),
    ask("project_shares", share_projects(FOLDER), SAME_PROJECTS,
        shared_by="path"),
    ask("project_shares", share_projects(FOLDER), SAME_PROJECTS,
        shared_by="path", ranked_by="bytes"),
    ask("project_cold_data", COLD.format("account AS holder,"), f"holder, {SAME_COLD}"),
    ask("project_cold_data", COLD.format(f"{FOLDER} AS holder,"), f"holder, {SAME_COLD}", held_by="path"),
    ask("account_usage", use_accounts("month"), SAME_ACCOUNTS),
    ask("account_usage", use_accounts("day"), SAME_ACCOUNTS, period="day"),
    ask("transfer_sizes", """
        SELECT power(10, floor(log10(greatest(size_bytes, 1))))::bigint, count(*), sum(size_bytes)
        FROM transfers WHERE NOT is_failed GROUP BY ALL""",
        "size_from_bytes, transfer_count, size_bytes"),
    ask("request_figures", """
        SELECT * EXCLUDE (values_s), values_s[1], values_s[2], values_s[3], values_s[4], values_s[5],
            values_s[6],
            values_s[7]
        FROM (
            SELECT interface, direction, count(duration_s), avg(duration_s), stddev(duration_s),
                min(duration_s),
                max(duration_s), quantile_disc(duration_s, [0.01, 0.05, 0.1, 0.5, 0.9, 0.95, 0.99])
                    AS values_s
            FROM requests WHERE NOT is_failed GROUP BY ALL
        )""",
        "interface, direction, request_count, mean_s, deviation_s, min_s, max_s, p1_s, p5_s, p10_s,"
        " p50_s, p90_s,"
        " p95_s, p99_s|WHERE quantity = 'transfer time'"),
    ask("request_quantiles", """
        SELECT direction, count(size_bytes), count(duration_s),
            quantile_disc(size_bytes, [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]) IS NOT NULL,
            quantile_disc(duration_s, [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]) IS NOT NULL
        FROM requests WHERE NOT is_failed GROUP BY ALL""",
        "direction, max(request_count) FILTER (WHERE quantity = 'size'),"
        " max(request_count) FILTER (WHERE quantity = 'transfer time'), true, true|GROUP BY direction"),
    ask("size_times", f"""
        SELECT interface, direction, sum(transfer_count) FROM (
            SELECT interface, direction, floor(log10(greatest(size_bytes, 1)) * 3) AS bin,
                count(*) AS transfer_count, avg(size_bytes), min(duration_s),
                quantile_cont(duration_s, [0.1, 0.5, 0.9])
            FROM transfers WHERE NOT is_failed AND {PRECISE} GROUP BY ALL
        ) GROUP BY ALL""",
        "interface, direction, sum(transfer_count)|GROUP BY interface, direction"),
    ask("transfer_rates", f"""
        SELECT * EXCLUDE (rates), rates[1], rates[2], rates[3] FROM (
            SELECT interface, direction, count(*), min(rate), max(rate), avg(rate),
                quantile_disc(rate, [0.1, 0.5, 0.9]) AS rates
            FROM transfers WHERE NOT is_failed AND rate IS NOT NULL AND {PRECISE} GROUP BY ALL
        )""",
        "interface, direction, transfer_count, min_rate_bytes_per_s, max_rate_bytes_per_s,"
        " mean_rate_bytes_per_s,"
        " p10_rate_bytes_per_s, p50_rate_bytes_per_s, p90_rate_bytes_per_s"),
    ask("monthly_rates", """
        SELECT date_trunc('month', ended_at AT TIME ZONE 'America/Los_Angeles')::date, interface, direction,
            count(*), sum(size_bytes), sum(duration_s),
            quantile_disc(rate, [0.1, 0.5, 0.9]) IS NOT NULL
        FROM transfers WHERE NOT is_failed AND rate IS NOT NULL GROUP BY ALL""",
        "starts_on, interface, direction, transfer_count, size_bytes, duration_s, true"),
    ask("comparison_figures", TIMES, SAME_TIMES.format("values_drawn[1]")),
    ask("comparison_kinds", """
        SELECT direction, class_of_service::varchar, count(*), sum(round(duration_s * 1e6)) / 1e6
        FROM requests WHERE NOT is_failed AND duration_s IS NOT NULL GROUP BY ALL""",
        "direction, class_of_service, sum(request_counts[1]), sum(amounts[1] * factor)::double precision"
        "|WHERE quantity = 'transfer time' GROUP BY direction, class_of_service"),
    ask("compare_archives", TIMES, SAME_TIMES.format("b_value"), a=ARCHIVE, b=ARCHIVE),
    ask("compare_mixes", """
        SELECT coalesce(direction, 'all'), count(*), avg(duration_s)
        FROM requests WHERE NOT is_failed AND duration_s IS NOT NULL
        GROUP BY GROUPING SETS ((direction), ())""",
        "direction, b_count, b_value|WHERE quantity = 'transfer time'", a=ARCHIVE, b=ARCHIVE),
    ask("lower_envelopes"),
    ask("residual_blocks"),
    ask("week_profiles", f"""
        SELECT interface, direction, (isodow(local_at) - 1) * 24 + hour(local_at),
            count(*) FILTER (WHERE is_first), count(*), sum(size_bytes)
        FROM (SELECT *, asked_at AT TIME ZONE 'America/Los_Angeles' AS local_at FROM ({BURSTS}))
            GROUP BY ALL""",
        "interface, direction, hour_of_week, burst_count, request_count, size_bytes"),
    ask("interarrivals", """
        SELECT * EXCLUDE (gaps_s), gaps_s[1], gaps_s[2], gaps_s[3] FROM (
            SELECT interface, direction, count(gap_s), count(*) FILTER (WHERE gap_s = 0), avg(gap_s),
                max(gap_s),
                quantile_disc(gap_s, [0.5, 0.9, 0.99]) AS gaps_s
            FROM (
                SELECT interface, direction, epoch(asked_at
                    - lag(asked_at) OVER (PARTITION BY interface, direction ORDER BY asked_at)) AS gap_s
                FROM requests
            ) GROUP BY ALL
        )""",
        "interface, direction, gap_count, zero_count, mean_s, max_s, p50_s, p90_s, p99_s"),
    ask("session_figures", """
        SELECT interface, count(*), sum(transfer_count), count(*) FILTER (WHERE transfer_count = 1),
            max(transfer_count)
        FROM (
            SELECT interface, user_id, client, session_number, count(*) AS transfer_count FROM (
                SELECT *, count(*) FILTER (WHERE gap_s IS NULL OR gap_s > 900) OVER (
                    PARTITION BY user_id, interface, client ORDER BY started_at, ended_at, transfer_id
                    ROWS UNBOUNDED PRECEDING) AS session_number
                FROM (
                    SELECT *, epoch(started_at - max(ended_at) OVER (
                        PARTITION BY user_id, interface, client ORDER BY started_at, ended_at, transfer_id
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS gap_s
                    FROM transfers WHERE user_id IS NOT NULL
                )
            ) GROUP BY ALL
        ) GROUP BY ALL""",
        "interface, session_count, transfer_count, one_transfer_count, max_transfer_count"),
    ask("arrival_dispersion", """
        SELECT interface, direction, bin_s, sum(request_count), max(request_count) FROM (
            SELECT interface, direction, bin_s, floor((at_s - 28800) / bin_s) AS bin, count(*)
                AS request_count,
                any_value(first_s) AS first_s, any_value(last_s) AS last_s
            FROM (
                SELECT interface, direction, epoch(asked_at) AS at_s, min(epoch(asked_at)) OVER route
                    AS first_s,
                    max(epoch(asked_at)) OVER route AS last_s
                FROM requests WINDOW route AS (PARTITION BY interface, direction)
            ), (VALUES (60), (600), (3600), (86400)) AS bins (bin_s) GROUP BY ALL
        )
        WHERE bin * bin_s + 28800 >= first_s AND (bin + 1) * bin_s + 28800 <= last_s GROUP BY ALL""",
        "interface, direction, bin_s, request_count, max_count"),
]  # fmt: skip

DAY = {"since": "'1997-11-24 08:00Z'", "until": "'1997-11-25 08:00Z'"}
# Functions that list rows are asked about a day.
LISTINGS = [
    Question(Call(ARCHIVE, function, tuple((DAY | given).items())))
    for function, given in (
        ("file_accesses", {}),
        ("idle_intervals", {"shortest_s": "0"}),
        ("transfer_neighbours", {}),
        ("residuals", {}),
        ("user_bursts", {}),
        ("user_sessions", {}),
    )
]

# When each mount occupied its drive: not before the one before it has left.
STAYS = """
    WITH stays AS (
        SELECT *, least(greatest(first_event_at, max(last_event_at) OVER (
            PARTITION BY drive ORDER BY coalesce(mounted_at::TIMESTAMPTZ, least(positioned_at,
                transferred_at)), mount_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)), last_event_at) AS occupied_from
        FROM mounts WHERE drive IS NOT NULL
    )"""
BERLIN = "AT TIME ZONE 'Europe/Berlin'"


def split_days(unit: str) -> str:
    """Write the seconds that each drive was occupied by local hour or day."""
    return f"""{STAYS}, parts AS (
        SELECT drive, starts_at, epoch(least(last_event_at, (starts_at + INTERVAL 1 {unit}) {BERLIN})
            - greatest(occupied_from, starts_at {BERLIN})) AS occupied_s
        FROM (
            SELECT *, unnest(generate_series(date_trunc('{unit}', occupied_from {BERLIN}),
                last_event_at {BERLIN}, INTERVAL 1 {unit})) AS starts_at
            FROM stays
        )
    )"""


# Functions of drives, mounts and recalls, which ask about another warehouse.
TAPE_QUESTIONS = [
    ask("recall_latencies", """
        SELECT count(*), count(*) FILTER (WHERE NOT is_failed), count(*) FILTER (WHERE is_failed),
            quantile_disc(wait_s, 0.5) FILTER (WHERE NOT is_failed),
            quantile_disc(wait_s, 0.9) FILTER (WHERE NOT is_failed),
            quantile_disc(wait_s, 0.95) FILTER (WHERE NOT is_failed),
            quantile_disc(wait_s, 0.99) FILTER (WHERE NOT is_failed)
        FROM (
            SELECT *, epoch(transferred_at - received_at) AS wait_s
            FROM operations WHERE task = 'stage' AND requester = 'client'
        )""",
        "recall_count, timed_count, failed_count, p50_s, p90_s, p95_s, p99_s|WHERE counted_per = 'stage'"),
    ask("recall_batches", f"""
        SELECT (transferred_at {BERLIN})::date, tape_type, count(*), count(DISTINCT vsn),
            count(*) FILTER (WHERE epoch(after_s) <= 60 OR epoch(before_s) <= 60)
        FROM (
            SELECT *, received_at - lag(received_at) OVER one_volume AS after_s,
                lead(received_at) OVER one_volume - received_at AS before_s
            FROM operations WHERE task = 'stage' AND requester = 'client'
            WINDOW one_volume AS (PARTITION BY vsn ORDER BY received_at, operation_id)
        ) GROUP BY ALL""",
        "starts_on, tape_type, recall_count, volume_count, together_count"),
    ask("drive_usage", f"""{STAYS}
        SELECT tape_type, requester, count(*), sum(transfer_count), sum(size_bytes),
            sum(epoch(last_event_at - occupied_from))
        FROM stays GROUP BY ALL""",
        "tape_type, requester, sum(mount_count), sum(file_count), sum(size_bytes),"
        " sum(occupied_s)|GROUP BY tape_type, requester"),
    ask("drives_busy", f"""{STAYS}
        SELECT busy, sum(epoch(lasting)) FROM (
            SELECT sum(step) OVER in_time AS busy, lead(moment) OVER in_time - moment AS lasting FROM (
                SELECT occupied_from AS moment, 1 AS step FROM stays
                UNION ALL SELECT last_event_at, -1 FROM stays
            ) WINDOW in_time AS (ORDER BY moment)
        ) WHERE busy > 0 GROUP BY ALL HAVING sum(epoch(lasting)) > 0""",
        "busy_count, span_s|WHERE busy_count > 0 AND span_s > 0"),
    ask("drive_hours", f"""{split_days('day')}
        SELECT drive, starts_at::date, sum(occupied_s) FROM parts GROUP BY ALL
            HAVING sum(occupied_s) > 0""",
        "drive, starts_on, occupied_s|WHERE occupied_s > 0", period="day"),
    ask("drives_needed", f"""{split_days('hour')}, days AS (
            SELECT starts_at::date AS day, starts_at, sum(occupied_s) AS drive_s FROM parts
            WHERE starts_at::date > (SELECT min(first_event_at {BERLIN})::date FROM mounts)
                AND starts_at::date < (
                    SELECT greatest((SELECT max(last_event_at {BERLIN})::date FROM mounts),
                        (SELECT max(last_event_at {BERLIN})::date FROM operations)))
            GROUP BY ALL
        )
        SELECT sum(drive_s) / 3600 / (SELECT max(day) - min(day) + 1 FROM days) FROM days""",
        "drive_hours_per_day"),
    ask("mount_steps", """
        SELECT view_name, tape_type, step, count(step_s), count(*) - count(step_s), avg(step_s), min(step_s),
            max(step_s), quantile_disc(step_s, 0.5), quantile_disc(step_s, 0.95)
        FROM (
            SELECT 'mounts' AS view_name, tape_type, unnest(['queue', 'mount', 'transfer', 'lazy_wait',
                'dismount'])
                    AS step,
                unnest([epoch(mount_requested_at - received_at), epoch(positioned_at - mount_requested_at),
                    transfer_s, epoch(dismount_requested_at - transferred_at),
                    epoch(dismounted_at - dismount_requested_at)]) AS step_s
            FROM mounts
            UNION ALL
            SELECT 'tape_operations', tape_type, unnest(['queue', 'mount', 'waited', 'transfer']),
                unnest([epoch(mount_requested_at - received_at), epoch(positioned_at - mount_requested_at),
                    epoch(positioned_at - received_at), epoch(transferred_at - positioned_at)])
            FROM operations
        ) GROUP BY ALL""",
        "view_name, tape_type, step, step_count, unknown_count, mean_s, shortest_s, longest_s, p50_s, p95_s"),
    ask("repack_waits", f"""{STAYS}, steps AS (
            SELECT tape_type, occupied_from AS moment, 0 AS place, 1 AS step, NULL AS task, NULL AS waited_s
            FROM stays WHERE requester = 'repacker'
            UNION ALL SELECT tape_type, last_event_at, 0, -1, NULL, NULL FROM stays
                WHERE requester = 'repacker'
            UNION ALL
            SELECT tape_type, received_at, 1, 0, task, epoch(positioned_at - received_at)
            FROM operations WHERE requester = 'client'
        )
        SELECT tape_type, task, holding > 0, count(*), quantile_disc(waited_s, 0.5),
            quantile_disc(waited_s, 0.99)
        FROM (SELECT *, sum(step) OVER (PARTITION BY tape_type ORDER BY moment, place) AS holding FROM steps)
        WHERE place = 1 GROUP BY ALL""",
        "tape_type, task, is_repacking, request_count, p50_s, p99_s"),
    ask("mount_days", f"""{STAYS}
        SELECT tape_type, (occupied_from {BERLIN})::date, count(*), count(DISTINCT vsn), sum(transfer_count),
            count(*) FILTER (WHERE transfer_count = 1), sum(size_bytes),
            count(*) FILTER (WHERE is_followed AND until_remount <= INTERVAL 1 HOUR),
            count(*) FILTER (WHERE is_followed AND until_remount <= INTERVAL 24 HOURS)
        FROM (
            SELECT *, lead(occupied_from) OVER (PARTITION BY vsn ORDER BY occupied_from,
                mount_id) - dismounted_at
                    AS until_remount,
                (SELECT greatest((SELECT max(last_event_at) FROM mounts),
                    (SELECT max(last_event_at) FROM operations))) - dismounted_at >= INTERVAL 24 HOURS
                        AS is_followed
            FROM stays
        ) GROUP BY ALL""",
        "tape_type, starts_on, mount_count, volume_count, file_count, one_file_count, size_bytes,"
        " remount_1h_count,"
        " remount_24h_count|WHERE mount_count > 0"),
    ask("mount_failures", """
        SELECT vsn, count(*), sum(transfer_count), sum(failed_count), count(*) FILTER (WHERE failed_count > 0)
        FROM mounts WHERE drive IS NOT NULL GROUP BY ALL""",
        "vsn, mount_count, file_count, failed_count, failed_mount_count"),
    ask("small_file_tax", """
        SELECT tape_type, task, power(10, floor(log10(size_bytes)))::bigint, count(*),
            sum(size_bytes) FILTER (WHERE NOT is_failed), sum(epoch(transferred_at - positioned_at))
        FROM operations GROUP BY ALL""",
        "tape_type, task, size_from_bytes, file_count, size_bytes, transferring_s"
        "|WHERE file_count > 0"),
    ask("tape_rates", """
        SELECT tape_type, task, count(*), sum(size_bytes), min(rate), max(rate), quantile_disc(rate, 0.5)
        FROM (SELECT *, size_bytes / epoch(transferred_at - positioned_at) AS rate FROM operations)
        WHERE NOT is_failed GROUP BY ALL""",
        "tape_type, task, file_count, size_bytes, min_rate_bytes_per_s, max_rate_bytes_per_s,"
        " p50_rate_bytes_per_s"),
    ask("failures", "SELECT count(*), count(*) FILTER (WHERE is_failed) FROM operations",
        "attempt_count, failed_count"),
    ask("failures", "SELECT count(*) FROM operations WHERE is_failed", "sum(failed_count)::bigint",
        grouped_by="{code}"),
    ask("time_to_tape"),
    ask("not_on_tape"),
]  # fmt: skip
