"""The arguments of datasets if the filters choose nothing, as SQL with Superset's templates.

Several archives are never combined, and several interfaces are not combined if a line is fitted to their
transfers. The defaults are therefore the first archive (measured before synthetic before simulated), and the
interface with the most transfers.
"""

import textwrap

ARCHIVE = """\
    SELECT archive, kind, timezone
    FROM mart.archives{where_archive}
    ORDER BY array_position(ARRAY['measured', 'synthetic', 'simulated'], kind), archive
    LIMIT 1"""
# The requests of a simulated archive are sorted into the classes of the archive that they come from. Only one
# interface is chosen, because the classes of several interfaces would be too many to distinguish.
MODEL = """\
    SELECT archives.archive, archives.timezone, classes.model, classes.interface
    FROM mart.archives AS archives
    INNER JOIN mart.related_archives AS related ON archives.archive = related.archive
    INNER JOIN mart.workload_classes AS classes ON related.related_archive = classes.archive{where_model}
    GROUP BY
        archives.archive,
        archives.kind,
        archives.timezone,
        related.relation,
        classes.model,
        classes.interface
    ORDER BY
        array_position(ARRAY['measured', 'synthetic', 'simulated'], archives.kind),
        archives.archive,
        array_position(ARRAY['itself', 'its origin', 'simulated from it'], related.relation),
        classes.model,
        sum(classes.request_count) DESC
    LIMIT 1"""
# One interface for each direction: that with the most transfers on the days that the range touches.
ROUTES = """\
    SELECT DISTINCT ON (cells.direction)
        asked_for.archive, asked_for.timezone, cells.interface, cells.direction
    FROM (
        SELECT archive, timezone
        FROM mart.archives{where_archive}
        ORDER BY array_position(ARRAY['measured', 'synthetic', 'simulated'], kind), archive
        LIMIT 1
    ) AS asked_for{period}
    CROSS JOIN LATERAL mart.selected_days(
        archive => asked_for.archive, since => {since}, until => {until}
    ) AS cells{where_route}
    GROUP BY asked_for.archive, asked_for.timezone, cells.interface, cells.direction
    ORDER BY cells.direction, sum(cells.transfer_count) DESC, cells.interface"""
# An archive's logs next to simulations of its requests. Each role has its own colour, so a simulated archive
# must have the same number whichever archive is chosen. Its number is its place among all archives simulated
# from the same logs. If it was not simulated from logs, its number is its place among the archives shown.
COMPARED = """\
    SELECT
        shown.related_archive AS archive,
        shown.related_kind AS kind,
        asked_for.timezone,
        CASE shown.related_kind
            WHEN 'measured' THEN 'measured logs'
            WHEN 'synthetic' THEN 'made-up logs'
            ELSE concat_ws(' ', 'simulated', nullif(coalesce(numbered.place, shown.place), 1))
        END AS role
    FROM (
        SELECT archive, timezone
        FROM mart.archives{where_archive}
        ORDER BY array_position(ARRAY['measured', 'synthetic', 'simulated'], kind), archive
        LIMIT 1
    ) AS asked_for
    INNER JOIN (
        SELECT
            *,
            row_number() OVER (PARTITION BY archive, related_kind ORDER BY related_archive) AS place
        FROM mart.related_archives
    ) AS shown ON asked_for.archive = shown.archive
    LEFT JOIN (
        SELECT
            related_archive,
            row_number() OVER (PARTITION BY archive ORDER BY related_archive) AS place
        FROM mart.related_archives
        WHERE relation = 'simulated from it' AND kind <> 'simulated'
    ) AS numbered ON shown.related_archive = numbered.related_archive"""
# What the filter Period offers. Its days end with the data, however old they are, and not with the clock.
PERIODS = ("last 7 days", "last 30 days", "last 90 days", "last 365 days", "all days")
PERIOD = "last 90 days"
# When the chosen period begins, or null if it has all days of the archive; when the data's last day ends; and
# what is drawn as one bar: a day in up to 100 days, a week in up to two years, else a month. The filter Time
# replaces a period.
PERIOD_SHOWN = """
CROSS JOIN LATERAL (
    SELECT
        starts.starts_at,
        (known.last_on + 1)::timestamp AT TIME ZONE {archive}.timezone AS ends_at,
        CASE
            WHEN lengths.day_count <= 100 THEN 'day'
            WHEN lengths.day_count <= 731 THEN 'week'
            ELSE 'month'
        END AS grain
    FROM (
        SELECT min(bounds.first_on) AS first_on, max(bounds.last_on) AS last_on
        FROM (
            SELECT cells.starts_on, cells.starts_on
            FROM mart.day_cells AS cells
            WHERE cells.archive = {archive}.archive
            UNION ALL
            SELECT
                (states.first_event_at AT TIME ZONE {archive}.timezone)::date,
                (states.last_event_at AT TIME ZONE {archive}.timezone)::date
            FROM mart.source_states AS states
            WHERE states.archive = {archive}.archive AND states.is_counted
        ) AS bounds (first_on, last_on)
    ) AS known
    CROSS JOIN LATERAL (
        SELECT
            known.last_on + 1 - CAST(substring({period}::text FROM '[0-9]{{1,5}}') AS integer) AS starts_on
    ) AS asked
    CROSS JOIN LATERAL (
        SELECT
            CASE
                WHEN asked.starts_on > known.first_on
                    THEN asked.starts_on::timestamp AT TIME ZONE {archive}.timezone
            END AS starts_at
    ) AS starts
    CROSS JOIN LATERAL (
        SELECT
            coalesce(({until} AT TIME ZONE {archive}.timezone)::date, known.last_on + 1)
            - coalesce(
                ({since} AT TIME ZONE {archive}.timezone)::date,
                (starts.starts_at AT TIME ZONE {archive}.timezone)::date,
                known.first_on
            ) AS day_count
    ) AS lengths
) AS period"""
# The filters that functions take as arguments.
ASKED = ("interface", "direction", "client", "class_of_service")
CHOICES = {
    "class_days": MODEL,
    "request_quantiles": COMPARED,
    "residual_blocks": ROUTES,
    "size_times": ROUTES,
}


def write_choice(dataset: str, *, with_filters: bool) -> str:
    """Write the query that chooses the defaults, with or without the dashboard's filters."""
    archive, model, route, period = "", "", "", ""
    since = until = "NULL"
    if with_filters:
        archive = _where({"archive": "archive"})
        model = _where(
            {"archives.archive": "archive", "classes.model": "model", "classes.interface": "interface"}
        )
        since, until = write_since("asked_for"), write_time("to_dttm", "asked_for")
        period = textwrap.indent(write_period("asked_for", with_filters=True), "    ")
        route = _where({"cells.interface": "interface", "cells.direction": "direction"})
    return CHOICES.get(dataset, ARCHIVE).format(
        where_archive=archive, where_model=model, where_route=route, since=since, until=until, period=period
    )


def write_period(archive: str, *, with_filters: bool) -> str:
    """Write the join that finds the period shown, and its grain, for the archive in the row `archive`."""
    since = until = "NULL::timestamptz"
    if with_filters:
        since, until = (f"({write_time(each, archive)})::timestamptz" for each in ("from_dttm", "to_dttm"))
    period = write_value("time_preset") if with_filters else "NULL"
    return PERIOD_SHOWN.format(archive=archive, period=period, since=since, until=until)


def write_since(archive: str) -> str:
    """Write the beginning of the chosen time range or, if no time is chosen, of the chosen period."""
    chosen = write_time("from_dttm", archive)
    return f"{{% if from_dttm or to_dttm %}}{chosen}{{% else %}}period.starts_at{{% endif %}}"


def write_time(variable: str, archive: str) -> str:
    """Write one end of the time range, in the archive's time zone, or NULL if none is chosen."""
    local = f"TIMESTAMP '{{{{ {variable} }}}}' AT TIME ZONE {archive}.timezone"
    return f"{{% if {variable} %}}{local}{{% else %}}NULL{{% endif %}}"


def write_value(name: str) -> str:
    """Write the value that a filter chooses, or NULL if it chooses none.

    Superset quotes the value. Two values would form a row instead of a string, and PostgreSQL would reject
    the row.
    """
    return f"{{{{ filter_values('{name}', remove_filter=True)|where_in(default_to_none=True) or 'NULL' }}}}"


def write_word(name: str) -> str:
    """SQL for a name as one word of a shell. Logs may contain any text, and people paste the command."""
    # Within single quotes, a shell expands nothing. A single quote itself is put between double quotes.
    # `concat` would make a word of a null, which has to leave out its option.
    quoted = f"""'''' || replace({name}, '''', '''"''"''') || ''''"""
    return f"CASE WHEN {name} ~ '^[[:alnum:]._-]+$' THEN {name} ELSE {quoted} END"


def _where(filters: dict[str, str]) -> str:
    conditions = (
        f"{{% if filter_values('{name}') %}}\n"
        f"        AND {column} IN {{{{ filter_values('{name}', remove_filter=True)|where_in }}}}{{% endif %}}"
        for column, name in filters.items()
    )
    return "\n    WHERE TRUE" + "".join(conditions)


def write_counted_files(archive: str) -> str:
    """SQL for whether files need not be followed, or are so few that a page need not wait long for it.

    `mart.file_recounts` says of how many events this holds. Files are mostly put and got by transfers, whose
    number is known from cells.
    """
    return f"""\
EXISTS (
    SELECT FROM mart.file_recounts AS recounts
    WHERE recounts.archive = {archive} AND recounts.is_used
) OR (
    SELECT coalesce(sum(cells.transfer_count), 0) < 200000
    FROM mart.day_cells AS cells
    WHERE cells.archive = {archive}
)"""  # noqa: S608  # ours
