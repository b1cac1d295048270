"""Two kept studies with made-up figures, because running one takes more time than the rest of the tests."""

import psycopg
from psycopg.types.json import Jsonb

NEWEST, OLDER = "made-up week on a made-up machine", "trace on a disk without tapes"
OPTIONS = {
    "": {},
    "disk.capacity_bytes=84GB": {"disk.capacity_bytes": 84_000_000_000},
    "disk.capacity_bytes=84GB tapes.drives.0.count=4": {
        "disk.capacity_bytes": 84_000_000_000, "tapes.drives.0.count": 4,
    },
    "tapes.drives.0.count=10": {"tapes.drives.0.count": 10},
    "tapes.drives.0.count=4": {"tapes.drives.0.count": 4},
}  # fmt: skip
CAUSES = ("user", "limit", "failed", "port", "file", "drive", "space", "contention")

# The disk of the machine file is one of the sizes, and its rule one of the rules.
SIZE, RULE = 42_000_000_000, "gdsf"
MACHINE = {"prices": {"currency": "EUR"}, "disk": {"capacity_bytes": SIZE}, "purge": {"policy": RULE}}
# In the second pool, the file's rule was not replayed.
POOLS = {"small": {"capacity_bytes": 5 * 10**9, "policy": "lru"}, "others": {"policy": "size_age"}}
POOL_CURVES = [
    ("others", "belady", 37 * 10**9, 120),
    ("others", "lru", 37 * 10**9, 140),
    ("others", "lru", 80 * 10**9, 90),
    ("small", "belady", 5 * 10**9, 40),
    ("small", "lru", 5 * 10**9, 70),
    ("small", "lru", 21 * 10**9, 30),
]
CURVES = [
    (policy, capacity_bytes, round(worst * share))
    for policy, worst in (("belady", 500), ("fifo", 760), ("gdsf", 650), ("lru", 700), ("size_age", 720))
    for capacity_bytes, share in ((21 * 10**9, 1), (SIZE, 0.6), (84 * 10**9, 0.4), (168 * 10**9, 0.3))
]


def insert_studies(loader: psycopg.Connection) -> None:
    """Insert a study of made-up requests with all figures, and an older one that knows few of them."""
    _insert_study(loader, OLDER, "file", None, {}, "1998-11-01")
    _insert_study(loader, NEWEST, "archive", "synthetic", MACHINE, "1998-11-02")
    for place, (option, changed) in enumerate(OPTIONS.items()):
        for seed in range(1, 7 if place else 6):  # the first option has one seed less
            _insert_run(loader, NEWEST, option, changed, seed, _make_up(place, seed))
    for policy, capacity_bytes, miss_count in CURVES:
        loader.execute(
            "INSERT INTO studies.study_curves (study_id, policy, capacity_bytes, get_count, miss_count,"
            " miss_bytes, first_count, options, replayed_at, pool)"
            " SELECT id, %s, %s, 800, %s, 0, 100, '{}', created_at, '' FROM studies.simulation_studies"
            " WHERE name = %s",
            [policy, capacity_bytes, miss_count, NEWEST],
        )
    for seed in (1, 2):
        few = {"lost_h": 0.25 * seed, "lost_user_h": 0.25 * seed, "put_wait_p95_s": 0.0, "hit_ratio": None}
        _insert_run(loader, OLDER, "", {}, seed, few)


def _make_up(place: int, seed: int) -> dict[str, float | None]:
    lost = {
        f"lost_{cause}_h": round((5 - place) * (number + 1) * (1 + 0.3 * seed) / 12, 9)
        for number, cause in enumerate(CAUSES)
    }
    return {
        **lost,
        "lost_h": sum(lost.values()),
        **{
            f"{direction}_wait_p{share}_s": share * (1 + seed % 4) * (6 - place) / divisor
            for direction, divisor in (("put", 10), ("get", 3))
            for share in (50, 95, 99)
        },
        "hit_ratio": 0.7 + 0.03 * place + 0.01 * (seed % 3),
        "miss_count": 600 - 50 * place + 7 * (seed % 4),
        "mount_count": 500 - 40 * place + 9 * (seed % 3),
        "drive_h": 70.5 - 6 * place + 1.5 * (seed % 5),
        **{f"{part}_utilisation_ratio": 0.1 * (4 - 0.5 * place) for part in ("drive", "port", "disk")},
        "robot_utilisation_ratio": None,
        "disk_peak_bytes": 40_000_000_000 + 1_000_000_000 * seed,
        "drive_queue_peak_count": 12 - place,
        "cost_per_year": 5000 + 1250.5 * place,
    }  # fmt: skip


def _insert_study(
    loader: psycopg.Connection,
    name: str,
    demand: str,
    kind: str | None,
    machine: dict[str, object],
    created_at: str,
) -> None:
    archive = "made-up-week" if kind else None
    loader.execute(
        "INSERT INTO studies.simulation_studies (name, digest, demand, demand_name, demand_archive,"
        " demand_kind, options, machine_title, machine, program_version, created_at)"
        " VALUES (%s, %s, %s, %s, %s, %s, '{}', %s, %s, '0', %s)",
        [
            name,
            name,
            demand,
            archive or "trace.csv",
            archive,
            kind,
            "A made-up machine",
            Jsonb(machine),
            created_at,
        ],
    )


def _insert_run(
    loader: psycopg.Connection,
    study: str,
    option: str,
    changed: dict[str, int],
    seed: int,
    figures: dict[str, float | None],
) -> None:
    loader.execute(
        "INSERT INTO studies.study_runs (study_id, option, seed, changed, figures, is_warm, ran_at)"
        " SELECT id, %s, %s, %s, %s, TRUE, created_at FROM studies.simulation_studies WHERE name = %s",
        [option, seed, Jsonb(changed), Jsonb(figures), study],
    )
