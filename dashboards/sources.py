"""The dataset of the sources and their limits, which are in `tapewise.toml` and not in the warehouse.

Superset gets the limits when it is started (source_limits.py).
"""

from typing import Any

from tapewise.schema.sites import DAY_AND_A_LITTLE_H

NAME = "source_ages"
METADATA: dict[str, Any] = {
    "summary": "The sources, with the age at which each is called late.",
    "columns": {
        "limit_h": "`silent_after_hours` of the source, or its default, in hours",
        "is_explained": "whether an outage of the archive is recorded that lasts until now",
    },
}

_SQL = """\
SELECT
    states.*,
    coalesce(limits.limit_h, {default}) AS limit_h,
    EXISTS (
        SELECT FROM mart.outages AS outages
        WHERE
            outages.archive = states.archive
            AND outages.started_at <= now()
            AND (outages.ended_at IS NULL OR outages.ended_at > now())
    ) AS is_explained
FROM mart.source_states AS states
LEFT JOIN (
    {limits}
) AS limits (archive, source, limit_h) ON states.archive = limits.archive AND states.source = limits.source"""


def write_sources(*, with_filters: bool) -> str:
    """Write the query. Without Superset's templates, no limits are known."""
    limits = (
        "{{ source_limits() }}" if with_filters else "VALUES (NULL::text, NULL::text, NULL::double precision)"
    )
    return _SQL.format(default=DAY_AND_A_LITTLE_H, limits=limits)
