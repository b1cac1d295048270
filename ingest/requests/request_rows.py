"""Makes rows of `core.requests` from a load's lines, for requests that an open and a transfer report.

The files in `steps/` derive the same columns in SQL. Decision 0016 explains why both exist, and a test
compares the two.
"""

import numpy as np
import polars as pl

from tapewise.ingest.requests.pairs import pair_lines
from tapewise.schema.tables.derived import requests
from tapewise.schema.tables.facts import event_time_columns, opens, transfers
from tapewise.schema.writing.loader import frame_schema
from tapewise.schema.writing.request_rollups import OWN

# The columns of each table from which requests are made, or by which simultaneous lines are ordered.
KEPT = {
    table.name: {
        name: dtype
        for name, dtype in frame_schema(table).items()
        if name in {"id", "line_hash", "occurrence", event_time_columns[table.name], *frame_schema(requests)}
        and name not in {"archive_id", "source_id"}
    }
    for table in (opens, transfers)
}
# The columns of a request that come from each of the two lines.
_OF_OPEN = ("id", "opened_at", "class_of_service", "open_s", "is_time_ambiguous", "is_cached")
_OF_TRANSFER = tuple(name for name in KEPT["transfers"] if name not in ("line_hash", "occurrence"))


def keep_lines(table: str, facts: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that requests need from `facts`, which are rows of `table` (opens or transfers).

    Rows of which only the day is known are left out, because they cannot be matched with other lines.
    """
    is_known = ~facts["is_time_of_day_unknown"]
    return (facts if is_known.all() else facts.filter(is_known)).select(*KEPT[table])


def derive_requests(opens: pl.DataFrame, transfers: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the requests that an open and a transfer (from `keep_lines`) report, and the remaining opens.

    What the transfer itself reports in the columns OWN is also in columns with `own_` before their names.
    """
    pairs = pair_lines(opens, transfers)
    of_open = opens.select(_OF_OPEN)[pairs["open_row"]].select(pl.all().name.suffix("_of_open"))
    both = pl.concat([transfers.select(_OF_TRANSFER)[pairs["transfer_row"]], of_open], how="horizontal")
    derived = both.rename(
        {"id": "transfer_id", "id_of_open": "open_id", "is_cached_of_open": "is_cached"}
    ).with_columns(
        **{f"own_{name}": pl.col(name) for name in OWN},
        class_of_service=pl.coalesce("class_of_service", "class_of_service_of_open"),
        open_s=pl.coalesce("open_s_of_open", "open_s"),
        is_time_ambiguous=pl.col("is_time_ambiguous") | pl.col("is_time_ambiguous_of_open"),
        opened_at="opened_at_of_open",
        submitted_at=pl.coalesce(
            pl.col("opened_at_of_open") - _seconds("open_s_of_open"),
            pl.col("started_at") - _seconds("open_s"),
        ),
    )
    is_alone = np.ones(opens.height, dtype=bool)
    is_alone[pairs["open_row"].to_numpy()] = False
    return derived, opens.filter(pl.Series(is_alone))


def derive_opens(opens: pl.DataFrame) -> pl.DataFrame:
    """Return the requests of opens without a transfer."""
    return opens.rename({"id": "open_id"}).with_columns(
        ended_at="opened_at",
        is_size_saturated=False,
        submitted_at=pl.col("opened_at") - _seconds("open_s"),
    )


def _seconds(name: str) -> pl.Expr:
    return pl.duration(microseconds=(pl.col(name) * 1e6).round().cast(pl.Int64))
