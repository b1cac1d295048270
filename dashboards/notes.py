"""The dataset that says which charts of a page are empty, and why, based on `mart.coverage` and the filters.

Superset's charts only say "No results". The charts and their datasets are read from `assets/`.
"""

import textwrap
from pathlib import Path
from typing import Any

import yaml

from tapewise.dashboards import studies
from tapewise.dashboards.choices import (
    ASKED,
    write_choice,
    write_counted_files,
    write_period,
    write_since,
    write_time,
    write_value,
    write_word,
)

ASSETS = Path(__file__).parent / "assets"
NAME = "page_notes"
# Functions that only cover gets, whatever the filter says. For other functions, the chart's own condition
# shows the direction.
OF_GETS = {
    *("cache_hits", "open_time_bins", "open_time_clusters", "recall_latencies", "selected_requests"),
    "stage_times",
}
# A get adds and removes nothing.
OF_PUTS = {"net_growth"}
OF_ONE_INTERFACE = {"residual_blocks", "size_times"}
OF_A_MODEL = {"class_days", "workload_classes"}
# Functions whose answers `tapewise refresh` prepares if there are many transfers, and one that uses them.
OF_PREPARED = {"lower_envelopes", "residual_blocks", "size_times"}
# Functions that follow files unless `tapewise refresh` has counted them. Pages show them if that is quick.
OF_FILES = {"growth", "growth_forecast", "net_growth"}
# Functions that read cells for one client too, if the archive counts single clients.
OF_CLIENT_CELLS = {
    *("cache_hits", "daily_activity", "flagged_transfers", "hour_profiles", "idle_windows", "monthly_rates"),
    *("open_time_bins", "open_time_clusters", "records", "request_quantiles", "size_times", "user_shares"),
}
# Functions that read events of tapes or stages, which an archive may have without any transfer.
OF_TAPES = {
    *("drive_hours", "drives_busy", "mount_days", "mount_failures", "mount_steps", "recall_latencies"),
    *("selected_mounts", "stage_times"),
}
OF_ALL_TIME = {
    *("line_fates", "morning_failures", "morning_figures", "recorded_changes", "reject_news"),
    *("source_ages", "source_states", "workload_classes"),
}
METADATA = {
    "summary": "Which charts of a page have nothing to show for the filters, and why.",
    "one_row_is": "one row per chart for which a reason is known, and one per page for the others",
    "columns": {
        "page": "title of the page",
        "place": "order of the charts on the page; the last rows are for all others, and for all",
        "chart": "title of the chart",
        "note": "why it is empty, which part of it is shown, or when it was computed",
    },
}

_SQL = """\
WITH chosen AS (
{choice}
),

asked AS (
    SELECT
        chosen.archive,
        chosen.kind,
        chosen.timezone,
{asked},
        CAST({since} AS timestamptz) AS since,
        CAST({until} AS timestamptz) AS until
    FROM chosen{period}
),

charts (
    page, place, chart, view_name, direction, fate, is_of_time, is_of_one_interface, is_of_model,
    is_of_prepared, is_of_tapes, is_of_files
) AS (
    VALUES
{charts}
),

-- All that is asked of days, read once.
interfaces AS MATERIALIZED (
    SELECT
        cells.interface,
        cells.direction,
        min(cells.starts_on) AS first_on,
        max(cells.starts_on) AS last_on,
        coalesce(
            sum(cells.transfer_count) FILTER (
                WHERE
                cells.starts_on >= (coalesce(asked.since, '-infinity') AT TIME ZONE asked.timezone)::date
                AND cells.starts_on < coalesce(asked.until, 'infinity') AT TIME ZONE asked.timezone
            ), 0
        ) AS transfer_count
    FROM asked
    INNER JOIN mart.day_cells AS cells ON asked.archive = cells.archive
    GROUP BY cells.interface, cells.direction
),

transfers AS (
    SELECT
        min(interfaces.first_on) AS first_on,
        max(interfaces.last_on) AS last_on,
        coalesce(
            bool_or(
                (asked.interface IS NULL OR interfaces.interface = asked.interface)
                AND (asked.direction IS NULL OR interfaces.direction = asked.direction)
                AND interfaces.transfer_count > 0
            ), FALSE
        ) AS is_any_in_range
    FROM asked
    CROSS JOIN interfaces
),

-- How far the logs go. Whether a tape was mounted in the range would take as long to find as a chart.
logs AS (
    SELECT
        to_char(min(states.first_event_at) AT TIME ZONE asked.timezone, 'YYYY-MM-DD HH24:MI') AS first_at,
        to_char(max(states.last_event_at) AT TIME ZONE asked.timezone, 'YYYY-MM-DD HH24:MI') AS last_at,
        coalesce(
            min(states.first_event_at) < coalesce(asked.until, 'infinity')
            AND max(states.last_event_at) >= coalesce(asked.since, '-infinity'), TRUE
        ) AS is_in_range
    FROM asked
    LEFT JOIN mart.source_states AS states ON asked.archive = states.archive
    GROUP BY asked.timezone, asked.since, asked.until
),

-- The interface that charts of one interface show if none is chosen.
busiest AS (
    SELECT DISTINCT ON (interfaces.direction) interfaces.direction, interfaces.interface
    FROM asked
    CROSS JOIN interfaces
    WHERE asked.interface IS NULL AND interfaces.transfer_count > 0
    ORDER BY interfaces.direction, interfaces.transfer_count DESC, interfaces.interface
),

-- What is said about prepared answers, once for all charts of an interface and direction.
prepared AS MATERIALIZED (
    SELECT
        routes.interface,
        routes.direction,
        CASE
            WHEN choices.preparation_id IS NULL
                THEN concat(
                    'too many transfers to fit an envelope while you wait; run',
                    ' `tapewise refresh --archive ' || {archive},
                    ' --since ' || to_char(asked.since AT TIME ZONE asked.timezone, {form}),
                    ' --until ' || to_char(asked.until AT TIME ZONE asked.timezone, {form}),
                    ' --client ' || {client},
                    ' --class-of-service ' || {class_of_service},
                    '`'
                )
            ELSE concat(
                'the envelope was computed at ',
                to_char(choices.computed_at AT TIME ZONE asked.timezone, 'YYYY-MM-DD HH24:MI'),
                CASE
                    WHEN choices.newer_count > 0
                        THEN ', before ' || choices.newer_count || ' more transfers were loaded'
                    WHEN choices.newer_count < 0
                        THEN ', before ' || -choices.newer_count || ' transfers were removed'
                END
            )
        END AS note
    FROM asked
    CROSS JOIN LATERAL (
        SELECT DISTINCT
            coalesce(asked.interface, busiest.interface) AS interface,
            coalesce(charts.direction, asked.direction) AS direction
        FROM charts
        LEFT JOIN busiest ON charts.is_of_one_interface AND charts.direction = busiest.direction
        WHERE charts.is_of_prepared
    ) AS routes
    CROSS JOIN LATERAL mart.envelope_choices(
        archive => asked.archive,
        since => asked.since,
        until => asked.until,
        interface => routes.interface,
        direction => routes.direction,
        client => asked.client,
        class_of_service => asked.class_of_service
    ) AS choices
    WHERE NOT choices.is_fresh
)

SELECT notes.page, notes.place, notes.chart, notes.note
FROM asked
CROSS JOIN transfers
CROSS JOIN logs
CROSS JOIN LATERAL (
    SELECT
        charts.page,
        charts.place,
        charts.chart,
        CASE
            WHEN coverage.state = 'not' AND asked.kind = 'simulated'
                THEN replace(coverage.why, 'not in this log', 'not in a simulated archive')
            WHEN coverage.state = 'not' THEN coverage.why
            WHEN charts.direction <> asked.direction
                THEN 'only for ' || charts.direction || 's, but the filter chooses ' || asked.direction || 's'
            WHEN charts.is_of_model AND NOT EXISTS (
                SELECT FROM mart.workload_models AS models
                INNER JOIN mart.related_archives AS related ON models.archive = related.related_archive
                WHERE related.archive = asked.archive
                    AND (charts.view_name = 'class_days' OR related.relation = 'itself')
            ) THEN 'no workload model was fitted to this archive'
            WHEN charts.fate IS NOT NULL AND NOT EXISTS (
                SELECT FROM mart.line_fates AS fates
                WHERE fates.archive = asked.archive AND fates.fate = charts.fate
            ) THEN 'no line of this archive was ' || charts.fate
            WHEN charts.view_name = 'morning_failures' AND NOT EXISTS (
                SELECT FROM mart.morning_days(archive => asked.archive) AS days
                INNER JOIN mart.day_cells AS cells
                    ON days.archive = cells.archive AND days.starts_on = cells.starts_on
                WHERE days.weeks_ago = 0 AND cells.failed_count > 0
            -- Tape operations fail, too. This takes longer, so it is asked last.
            ) AND NOT EXISTS (
                SELECT FROM mart.morning_failures(archive => asked.archive)
            ) THEN 'no transfer or tape operation of the last closed day is known to have failed'
            WHEN charts.view_name = 'recorded_changes' AND NOT EXISTS (
                SELECT FROM mart.recorded_changes AS recorded
                WHERE recorded.archive = asked.archive
            ) THEN 'no outage and no change was recorded'
            WHEN charts.view_name = 'morning_figures' AND NOT EXISTS (
                SELECT FROM mart.morning_days(archive => asked.archive)
            ) THEN 'the logs cover no whole day'
            WHEN charts.is_of_files AND NOT (
{counted_files}
            )
                THEN concat(
                    'too many files to follow while you wait; run',
                    ' `tapewise refresh --archive ' || {archive},
                    '`'
                )
            WHEN charts.is_of_tapes AND NOT logs.is_in_range
                THEN 'the logs only go from ' || logs.first_at || ' to ' || logs.last_at
            WHEN charts.is_of_time AND NOT transfers.is_any_in_range
                THEN coalesce(
                    'no transfer that the filters choose ended in this time; those of the archive ended from '
                    || transfers.first_on || ' to ' || transfers.last_on, 'the archive has no transfers'
                )
            ELSE nullif(
                concat_ws(
                    '; ',
                    'only for ' || busiest.interface || ', which has the most ' || charts.direction
                    || 's; choose another interface to see its line',
                    -- Within CASE, preparations are only looked for on a page that shows some.
                    CASE WHEN charts.is_of_prepared THEN (
                        SELECT prepared.note
                        FROM prepared
                        WHERE
                            prepared.interface
                            IS NOT DISTINCT FROM coalesce(asked.interface, busiest.interface)
                            AND prepared.direction
                            IS NOT DISTINCT FROM coalesce(charts.direction, asked.direction)
                    ) END
                ), ''
            )
        END AS note
    FROM charts
    LEFT JOIN mart.coverage AS coverage
        ON coverage.archive = asked.archive AND charts.view_name = coverage.view_name
    LEFT JOIN busiest ON charts.is_of_one_interface AND charts.direction = busiest.direction
    UNION ALL
    SELECT
        pages.page,
        1000,
        'any other empty chart',
        'the time range has nothing of what it lists, or nothing that the filters choose'
    FROM (
        VALUES
{pages}
    ) AS pages (page)
    UNION ALL
    SELECT
        pages.page,
        1001,
        'all charts',
        concat(
            'the archive counts no single clients, so what is asked about one reads all transfers; run',
            ' `tapewise archives clients ' || {archive} || ' --on` to make it fast'
        )
    FROM (
        VALUES
{client_pages}
    ) AS pages (page)
    WHERE asked.client IS NOT NULL AND EXISTS (
        SELECT FROM mart.archives AS archives
        WHERE archives.archive = asked.archive AND NOT archives.has_client_cells
    )
) AS notes
WHERE notes.note IS NOT NULL"""


def write_notes(*, with_filters: bool) -> str:
    """Write the query. Without filters, it can be run directly and has the same columns."""
    since = write_since("chosen") if with_filters else "NULL"
    until = write_time("to_dttm", "chosen") if with_filters else "NULL"
    asked = {name: write_value(name) if with_filters else "NULL" for name in ASKED}
    rows = list(_list_charts())
    pages = dict.fromkeys(row[0] for row in rows)
    client_pages = dict.fromkeys(row[0] for row in rows if row[3] in OF_CLIENT_CELLS)
    return _SQL.format(
        form="'YYYY-MM-DD\"T\"HH24:MI'",
        archive=write_word("asked.archive"),
        client=write_word("asked.client"),
        class_of_service=write_word("asked.class_of_service"),
        period=textwrap.indent(write_period("chosen", with_filters=with_filters), "    "),
        choice=write_choice(NAME, with_filters=with_filters),
        counted_files=textwrap.indent(write_counted_files("asked.archive"), " " * 16),
        asked=",\n".join(f"        {value}::text AS {name}" for name, value in asked.items()),
        since=since,
        until=until,
        charts=",\n".join(f"        ({', '.join(map(_quote, row))})" for row in rows),
        pages=",\n".join(f"        ({_quote(page)})" for page in pages),
        client_pages=",\n".join(f"        ({_quote(page)})" for page in client_pages),
    )


def _list_charts() -> list[tuple[Any, ...]]:
    """List the properties that the query needs, for each chart on each page."""
    charts = {chart["uuid"]: chart for chart in _read("charts")}
    names = {dataset["uuid"]: dataset["table_name"] for dataset in _read("datasets/tapewise")}
    rows = []
    for dashboard in _read("dashboards"):
        parts = [part for part in dashboard["position"].values() if isinstance(part, dict)]
        on_page = [charts[part["meta"]["uuid"]] for part in parts if part.get("type") == "CHART"]
        for place, chart in enumerate(on_page):
            view = names.get(chart["dataset_uuid"], NAME)
            if view in (NAME, "archive_summaries") or view in studies.NAMES:
                continue
            conditions = " ".join(each["sqlExpression"] for each in chart["params"]["adhoc_filters"])
            direction = next((each for each in ("get", "put") if f"direction = '{each}'" in conditions), None)
            fates = [each for each in ("rejected", "ignored") if f"fate = '{each}'" in conditions]
            fate = "rejected" if view == "reject_news" else next(iter(fates), None)
            rows.append(
                (
                    *(dashboard["dashboard_title"], place, chart["slice_name"], view),
                    *(direction or ("get" if view in OF_GETS else "put" if view in OF_PUTS else None), fate),
                    *(view not in OF_ALL_TIME | OF_TAPES, view in OF_ONE_INTERFACE, view in OF_A_MODEL),
                    *(view in OF_PREPARED, view in OF_TAPES, view in OF_FILES),
                )
            )
    return rows


def _read(kind: str) -> list[dict[str, Any]]:
    return [yaml.safe_load(path.read_text("utf-8")) for path in sorted((ASSETS / kind).glob("*.yaml"))]


def _quote(value: str | int | bool | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).upper()
