"""Makes cached answers expire after a load and after any other change that affects mart.

A string that changes with mart is part of each answer's cache key, so Superset queries again after a load, a
simulation or a new outage. Runs in Superset's environment.
"""

from typing import Any

# Every load changes `last_read_at` of a file in the ledger. Models, simulations and outages have their own
# rows. `tapewise db upgrade` creates mart's functions again, with new OIDs.
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
        (SELECT max(oid) FROM pg_proc WHERE pronamespace = 'mart'::regnamespace)
    ))
"""


def find_last_change(database: Any) -> str:
    """Return a string that changes whenever the warehouse behind Superset's `database` changes."""
    with database.get_raw_connection() as connection:
        cursor = connection.cursor()
        cursor.execute(LAST_CHANGE)
        (text,) = cursor.fetchone()
    return str(text)
