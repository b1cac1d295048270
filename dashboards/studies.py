"""The datasets of the page What if: the runs of one kept study, the newest if the filter chooses none.

Several studies are never combined, because they have other requests or another machine.
"""

from collections.abc import Callable
from typing import Any

from tapewise.dashboards.choices import write_word

# What a table shows of each run: the figure's name there, its unit for `mart.in_words`, and its SQL.
FIGURES = (
    ("lost, all causes", "s", "lost_hours * 3600"),
    ("lost: user's limit", "s", "lost_user_hours * 3600"),
    ("lost: other limits", "s", "lost_limit_hours * 3600"),
    ("lost: failed tries", "s", "lost_failed_hours * 3600"),
    ("lost: port", "s", "lost_port_hours * 3600"),
    ("lost: file in use", "s", "lost_file_hours * 3600"),
    ("lost: drive", "s", "lost_drive_hours * 3600"),
    ("lost: room on disk", "s", "lost_space_hours * 3600"),
    ("lost: contention", "s", "lost_contention_hours * 3600"),
    ("put wait, median", "s", "put_wait_p50_s"),
    ("put wait, 95 %", "s", "put_wait_p95_s"),
    ("put wait, 99 %", "s", "put_wait_p99_s"),
    ("get wait, median", "s", "get_wait_p50_s"),
    ("get wait, 95 %", "s", "get_wait_p95_s"),
    ("get wait, 99 %", "s", "get_wait_p99_s"),
    ("hit ratio", "ratio", "hit_ratio"),
    ("misses", None, "miss_count"),
    ("mounts", None, "mount_count"),
    ("drive hours", "h", "drive_hours"),
    ("drives busy", "ratio", "drive_utilisation_ratio"),
    ("robots busy", "ratio", "robot_utilisation_ratio"),
    ("ports busy", "ratio", "port_utilisation_ratio"),
    ("disk full, mean", "ratio", "disk_utilisation_ratio"),
    ("most on disk at a time", "bytes", "disk_peak_bytes"),
    ("most waiting for a drive", None, "drive_queue_peak_count"),
    ("cost a year", None, "cost_per_year"),
)
# Why a chart has nothing to show: its place and title on the page, the figure, and the reason.
_EMPTY = (
    (1, "Job-hours lost", "lost_hours", "no run knows what was lost"),
    (2, "Put wait, 95 %", "put_wait_p95_s", "the study has no puts"),
    (3, "Get wait, 95 %", "get_wait_p95_s", "the study has no gets"),
    (4, "Hit ratio of the options", "hit_ratio", "the study has no gets"),
    (5, "Misses", "miss_count", "no run knows what missed"),
    (6, "Mounts", "mount_count", "in the machine file, cartridges have no identity"),
    (7, "Drive hours", "drive_hours", "in the machine file, cartridges have no identity"),
    (8, "Cost a year", "cost_per_year", "the machine file has no `[prices]`"),
)

_RUNS = """\
WITH chosen AS (
    SELECT results.study
    FROM mart.study_results AS results{where}
    GROUP BY results.study, results.created_at
    ORDER BY results.created_at DESC, results.study
    LIMIT 1
),

places AS (
    SELECT
        results.*,
        dense_rank() OVER (
            ORDER BY results.is_as_in_file DESC, results.changed, results.option
        ) AS option_place
    FROM mart.study_results AS results
    -- A join would read the figures of all studies.
    WHERE results.study = (SELECT chosen.study FROM chosen)
),

-- Charts sort labels as text, so the numbers have equally many digits.
runs AS (
    SELECT
        places.*,
        lpad(option_place::text, length(max(option_place) OVER ()::text), '0') AS option_number
    FROM places
)
"""

# What the filter offers. A page whose filter has nothing to offer stays blank.
NAMED = "study_names"
_NAMED = """\
SELECT DISTINCT results.study, results.created_at
FROM mart.study_results AS results
UNION ALL
SELECT 'no study is kept', NULL::timestamptz
WHERE NOT EXISTS (SELECT FROM mart.study_results)"""

_SHOWN = """
SELECT
    CASE
        WHEN found.run_count = 0 THEN 'no study is kept: `tapewise simulate study`'
        ELSE found.study
    END AS study,
    found.requests,
    found.origin,
    found.machine_title,
    found.option_count,
    found.seeds,
    found.created_at,
    found.program_version
FROM (
    SELECT
        count(*) AS run_count,
        min(runs.study) AS study,
        min(
            CASE runs.demand
                WHEN 'archive' THEN 'archive ' || runs.demand_name
                WHEN 'model' THEN concat('workload model ', runs.demand_name, ' of archive ' || runs.archive)
                ELSE 'file ' || runs.demand_name
            END
        ) AS requests,
        min(
            CASE
                WHEN runs.kind = 'synthetic' THEN 'CIRCULAR: MADE-UP logs'
                WHEN runs.kind = 'simulated' THEN 'MADE UP: requests of a simulated archive'
                WHEN runs.kind = 'measured' AND runs.demand = 'model'
                    THEN 'MADE UP by a model that was fitted to real logs'
                WHEN runs.kind = 'measured' THEN 'measured: requests of real logs'
                WHEN runs.run_count > 0 THEN 'not known: they may be MADE UP'
            END
        ) AS origin,
        min(runs.machine_title) AS machine_title,
        count(DISTINCT runs.option) AS option_count,
        min(runs.seeds) AS seeds,
        min(runs.created_at) AS created_at,
        min(runs.program_version) AS program_version
    FROM (
        SELECT
            runs.*,
            1 AS run_count,
            (
                SELECT
                    concat_ws(
                        ' to ', min(counts.seed_count), nullif(max(counts.seed_count), min(counts.seed_count))
                    )
                FROM (SELECT count(*) AS seed_count FROM runs GROUP BY option) AS counts
            ) AS seeds
        FROM runs
    ) AS runs
) AS found"""

# The curves, and as a level line what the machine file's own disk or pool misses with its own rule, if that
# was replayed. A line begins with the name of its pool, which has no colons: two pools are never one line.
_CURVES = """
SELECT
    concat('pool ' || curves.pool || ': ', curves.policy) AS curve,
    curves.capacity_bytes,
    curves.miss_ratio
FROM mart.cache_curves AS curves
WHERE curves.study = (SELECT chosen.study FROM chosen)
UNION ALL
SELECT
    coalesce('pool ' || own.pool || ': as in the file', 'disk as in the file'),
    sizes.capacity_bytes,
    own.miss_ratio
FROM (
    SELECT
        curves.pool,
        curves.miss_ratio
    FROM mart.cache_curves AS curves
    WHERE
        curves.study = (SELECT chosen.study FROM chosen)
        AND curves.is_as_in_file
        AND curves.is_policy_as_in_file
) AS own
INNER JOIN (
    SELECT DISTINCT curves.pool, curves.capacity_bytes
    FROM mart.cache_curves AS curves
    WHERE curves.study = (SELECT chosen.study FROM chosen)
) AS sizes ON own.pool IS NOT DISTINCT FROM sizes.pool"""

_FIGURES = """
SELECT
    runs.option_place,
    runs.option_number,
    runs.option,
    figures.figure_place,
    figures.figure,
    figures.unit,
    min(runs.currency) AS currency,
    count(*) AS run_count,
    count(figures.value) AS known_count,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY figures.value) AS median,
    percentile_cont(0.25) WITHIN GROUP (ORDER BY figures.value) AS lower_quartile,
    percentile_cont(0.75) WITHIN GROUP (ORDER BY figures.value) AS upper_quartile,
    min(figures.value) AS smallest,
    max(figures.value) AS largest
FROM runs
CROSS JOIN LATERAL (
    VALUES
{figures}
) AS figures (figure_place, figure, unit, value)
GROUP BY
    runs.option_place,
    runs.option_number,
    runs.option,
    figures.figure_place,
    figures.figure,
    figures.unit
HAVING count(figures.value) > 0"""

_NOTES = """
SELECT 0 AS place, 'any other empty chart' AS chart, 'no study is kept: `tapewise simulate study`' AS note
WHERE NOT EXISTS (SELECT FROM chosen)
UNION ALL
SELECT charts.place, charts.chart, charts.note
FROM (
    SELECT
{known}
    FROM runs
    HAVING count(*) > 0
) AS known
CROSS JOIN LATERAL (
    VALUES
{charts}
) AS charts (place, chart, known_count, note)
WHERE charts.known_count = 0
UNION ALL
SELECT
    9,
    'Misses by size of disk',
    CASE
        WHEN bool_and(runs.demand = 'archive') THEN concat(
            'no curve is kept; run `tapewise simulate cache --archive ', {archive},
            ' --sizes 100GB..100TB --policies lru,gdsf --keep ', {study}, '`',
            -- The first pool by name; a disk without pools has none.
            ', and for a pool of the disk add `--machine FILE --pool ' || (
                SELECT min(pools.name)
                FROM runs
                CROSS JOIN LATERAL jsonb_object_keys(runs.machine #> '{{disk,pools}}') AS pools (name)
            ) || '`'
        )
        ELSE 'the requests are not those of an archive, which is what curves are replayed from'
    END
FROM runs
WHERE NOT EXISTS (SELECT FROM mart.cache_curves AS curves WHERE curves.study = runs.study)
HAVING count(*) > 0
UNION ALL
SELECT
    9,
    'Misses by size of disk',
    concat(
        'no line shows what ', coalesce('pool ' || curves.pool, 'the disk'),
        ' misses as in the file: its own rule was not replayed; add it to `--policies`'
    )
FROM mart.cache_curves AS curves
WHERE curves.study = (SELECT chosen.study FROM chosen)
GROUP BY curves.pool
HAVING NOT bool_or(curves.is_as_in_file AND curves.is_policy_as_in_file)
UNION ALL
SELECT
    100,
    'all charts',
    concat(
        'the disk was not in normal use from the beginning in ', count(*) FILTER (WHERE NOT is_warm),
        ' of ', count(*), ' runs; their figures include the time before'
    )
FROM runs
HAVING bool_or(NOT is_warm)
UNION ALL
SELECT
    101,
    'all charts',
    concat(
        'the options have ', min(counts.seed_count), ' to ', max(counts.seed_count),
        ' seeds; run the study again to complete them'
    )
FROM (SELECT count(*) AS seed_count FROM runs GROUP BY option) AS counts
HAVING min(counts.seed_count) < max(counts.seed_count)
UNION ALL
SELECT 1000, 'any other empty chart', 'no run of the study knows the figure'
WHERE EXISTS (SELECT FROM chosen)"""


def _write_runs() -> str:
    return "\nSELECT * FROM runs"


def _write_shown() -> str:
    return _SHOWN


def _write_figures() -> str:
    rows = (
        f"        ({place}, {_quote(name)}, {_quote(unit)}, ({sql})::double precision)"
        for place, (name, unit, sql) in enumerate(FIGURES, start=1)
    )
    return _FIGURES.format(figures=",\n".join(rows))


def _write_curves() -> str:
    return _CURVES


def _write_notes() -> str:
    counts = (f"        count({column}) AS {column}" for _, _, column, _ in _EMPTY)
    rows = (
        f"        ({place}, '{chart}', known.{column}, '{note}')" for place, chart, column, note in _EMPTY
    )
    return _NOTES.format(
        known=",\n".join(counts),
        charts=",\n".join(rows),
        archive=write_word("min(runs.demand_name)"),
        study=write_word("min(runs.study)"),
    )


def _quote(text: str | None) -> str:
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


_WRITERS: dict[str, Callable[[], str]] = {
    "study_curves": _write_curves,
    "study_figures": _write_figures,
    "study_notes": _write_notes,
    "study_runs": _write_runs,
    "study_shown": _write_shown,
}
NAMES = frozenset((NAMED, *_WRITERS))

_OPTION = {
    "option_place": "order of the options: the machine as in the file first",
    "option_number": "option_place as text, with as many digits as the largest",
}
_NAME = {"option": "what was changed in the machine file, as typed"}
METADATA: dict[str, dict[str, Any]] = {
    "study_curves": {
        "summary": "What disks or pools of other sizes and rules would have missed of a study's gets.",
        "one_row_is": "one row per pool, size and rule, and one with what the machine file's own disk or pool"
        " misses with its own rule, if that was replayed",
        "columns": {
            "curve": "the pool, if the sizes are those of one, and the rule by which files are dropped;"
            " or `disk as in the file`, or that of the pool",
            "capacity_bytes": "size of the disk or pool",
            "miss_ratio": "share of the gets that missed",
        },
    },
    "study_figures": {
        "summary": "The figures of a study's options, over their seeds, as far as they are known.",
        "one_row_is": "one row per option of the study and known figure",
        "columns": _OPTION
        | _NAME
        | {
            "figure_place": "order of the figures",
            "figure": "name of the figure",
            "unit": "unit as of mart.in_words; null for counts and costs",
            "currency": "currency of costs",
            "run_count": "runs of the option, each with another seed",
            "known_count": "runs in which the figure is known",
            "median": "median over the runs",
            "lower_quartile": "a quarter of the runs has less",
            "upper_quartile": "a quarter of the runs has more",
            "smallest": "smallest figure of a run",
            "largest": "largest figure of a run",
        },
    },
    NAMED: {
        "summary": "The kept studies, for the filter.",
        "one_row_is": "one row per study, or one that says that there is none",
        "columns": {"study": "name of the study", "created_at": "when it was first started"},
    },
    "study_notes": {
        "summary": "Which charts of a study have nothing to show, and why.",
        "one_row_is": "one row per chart for which a reason is known, and one for the others",
        "columns": {
            "place": "order of the charts on the page",
            "chart": "title of the chart",
            "note": "why it is empty, or what to keep in mind",
        },
    },
    "study_runs": {"columns": _OPTION},
    "study_shown": {
        "summary": "The study that is shown, its requests and its machine.",
        "one_row_is": "one row",
        "columns": {
            "study": "name of the study, or that there is none",
            "requests": "where the requests come from",
            "origin": "whether they are made up",
            "machine_title": "title of the machine as in the file",
            "option_count": "how many options were tried",
            "seeds": "how many seeds each option has",
            "created_at": "when the study was first started",
            "program_version": "version of Tapewise that ran it",
        },
    },
}


def write_study(name: str, *, with_filters: bool) -> str:
    """Write the query of one of these datasets, with or without the dashboard's filter."""
    if name == NAMED:
        return _NAMED
    where = ""
    if with_filters:
        where = (
            "{% if filter_values('study') %}\n"
            "    WHERE results.study IN {{ filter_values('study', remove_filter=True)|where_in }}{% endif %}"
        )
    return _RUNS.format(where=where) + _WRITERS[name]()
