"""Makes cached answers expire after a load and after any other change that affects mart.

A string that changes with mart is part of each answer's cache key, so Superset queries again after a load, a
simulation or a new outage. Runs in Superset's environment.
"""

from typing import Any

from reports import write_reports
from source_limits import write_limits

# Every load changes `last_read_at` of a file in the ledger. Models, simulations and outages have their own
# rows. A refresh counts files and prepares envelopes again, and charts show how old these are. `tapewise db
# upgrade` creates mart's functions again, with new OIDs.
LAST_CHANGE = """
    SELECT md5(concat_ws(
        ' ',
        (SELECT string_agg(archives::text, ' ' ORDER BY archives.archive) FROM mart.archives AS archives),
        (SELECT string_agg(sources::text, ' ' ORDER BY sources.archive, sources.source)
            FROM mart.source_states AS sources),
        (SELECT string_agg(outages::text, ' ' ORDER BY outages.outage_id) FROM mart.outages AS outages),
        (SELECT string_agg(models::text, ' ' ORDER BY models.archive, models.model)
            FROM mart.workload_models AS models),
        (SELECT string_agg(runs::text, ' ' ORDER BY runs.archive) FROM mart.simulation_runs AS runs),
        (SELECT concat_ws(' ', count(*), max(studies.ran_at), max(studies.created_at))
            FROM mart.study_results AS studies),
        (SELECT concat_ws(' ', count(*), max(curves.replayed_at)) FROM mart.cache_curves AS curves),
        (SELECT concat_ws(' ', count(*), max(recounts.computed_at)) FROM mart.file_recounts AS recounts),
        (SELECT concat_ws(' ', count(*), max(prepared.computed_at))
            FROM mart.envelope_preparations AS prepared),
        (SELECT max(oid) FROM pg_proc WHERE pronamespace = 'mart'::regnamespace)
    ))
"""
# Programs of Tapewise that may write: loads, refreshes, simulations.
WRITERS = """
    SELECT EXISTS (
        SELECT FROM pg_stat_activity AS sessions
        WHERE
            sessions.datname = current_database()
            AND sessions.application_name = 'tapewise'
            AND pg_has_role(sessions.usesysid, 'tapewise_loader', 'MEMBER')
    )
"""


def find_state(database: Any) -> list[str]:
    """Return what answers depend on besides their queries: the last change, limits and reports."""
    return [str(_find(database, LAST_CHANGE)), write_limits(), write_reports()]


def is_written(database: Any) -> bool:
    """Whether a program that may write to the warehouse is connected to it."""
    return bool(_find(database, WRITERS))


def _find(database: Any, query: str) -> Any:
    with database.get_raw_connection() as connection:
        cursor = connection.cursor()
        cursor.execute(query)
        (value,) = cursor.fetchone()
    return value
