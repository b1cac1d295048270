"""Puts the warehouse's last load, and all other changes that affect mart, into the key of each cached answer.

Superset therefore queries again after a load, a simulation or a new outage. Runs in Superset's environment.
"""

from typing import Any

# The ledger has a row for each file, and `last_read_at` changes with every load. Models, simulations and what
# people record have rows of their own. `tapewise db upgrade` creates the functions of mart again, with new
# oids.
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
        (SELECT max(oid) FROM pg_proc WHERE pronamespace = 'mart'::regnamespace)
    ))
"""


def find_last_change(database: Any) -> str:
    """Return a text that changes with every change of the warehouse behind Superset's `database`."""
    with database.get_raw_connection() as connection:
        cursor = connection.cursor()
        cursor.execute(LAST_CHANGE)
        (text,) = cursor.fetchone()
    return str(text)
