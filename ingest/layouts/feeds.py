"""What the views of `mart` need of a log: which of them it feeds, and in plain words why not the others."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Need:
    """Views that show something if facts of `table` have the `columns`; `lacking` says what there is not.

    Of a view's needs, one is enough.
    """

    views: tuple[str, ...]
    table: str
    columns: tuple[str, ...]
    lacking: str


NEEDS = (
    Need(("transfers", "activity", "monthly_rates", "idle_intervals"), "transfers", (),
         "no line is a transfer"),
    Need(("size_times", "lower_envelopes", "transfer_classes"), "transfers", ("size_bytes", "duration_s"),
         "no transfer has both its size and its duration"),
    Need(("workload_requests", "trace_requests"), "transfers", ("size_bytes",), "no transfer has its size"),
    Need(("user_shares", "user_bursts"), "transfers", ("user",), "no transfer says whose it is"),
    Need(("open_times", "cache_hits"), "transfers", ("open_s",),
         "no transfer says how long its file took to open"),
    Need(("open_times", "cache_hits"), "opens", ("open_s",), "no open says how long it took"),
    Need(("cache_hits",), "opens", ("is_cached",), "no open says whether the file was on disk"),
    Need(("cache_hits",), "stages", ("persona",), "no stage says of which job it was"),
    Need(("transfer_names",), "transfers", ("archive_path",), "no transfer names its file"),
    Need(("opens",), "opens", (), "no line says that a file was opened"),
    Need(("namespace_events",), "namespace_events", (),
         "no line says that a file was deleted, renamed or copied"),
    Need(("stages", "stage_times"), "stages", (), "no line says that a file was brought from tape"),
    Need(("migrations",), "migrations", (), "no line says that a file was written to tape"),
    Need(("srb_sessions",), "srb_sessions", (), "no line is a session of the Storage Resource Broker"),
    Need(("unitree_jobs",), "unitree_jobs", (), "no line is a job of UniTree's"),
)  # fmt: skip


def judge_views(found: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """Of each view, whether a log feeds it and, if not, why: `fed`, or what is lacking.

    `found` are the columns that facts of the log have, by table.
    """
    judged: dict[str, str] = {}
    for need in NEEDS:
        columns = found.get(need.table)
        is_fed = columns is not None and columns.issuperset(need.columns)
        for view in need.views:
            name = f"mart.{view}"
            told = judged.setdefault(name, need.lacking)
            judged[name] = "fed" if is_fed else told
    return list(judged.items())
