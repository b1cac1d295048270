"""Machines small enough to check by hand, and traces for them."""

import polars as pl

from tapewise.simulator.machines import Machine, parse_machine


def make_machine(**changes: object) -> Machine:
    """Make a machine with one chain of 10 B/s, a network of 100 B/s, two ports, no latency and no tapes.

    `disk__chain_count=2` changes a field; `tapes={...}` sets a table.
    """
    tables: dict = {
        "title": "small",
        "users": {"limit_count": 100},
        "ports": {
            "count": 2,
            "queueing": "serialised",
            "ranges": [{"over_bytes": -1, "first": 1, "last": 2}],
        },
        "network": {"in_bytes_per_s": 100, "out_bytes_per_s": 100},
        "latency": {"put_s": 0, "get_s": 0},
        "disk": {
            "chain_count": 1,
            "lvs_per_chain": 10,
            "lv_bytes": 1000,
            "chain_bytes_per_s": 10,
            "allocation": "chain_round_robin",
            "largest_file_bytes": 2000,
        },
    }
    for path, value in changes.items():
        *tables_on_the_way, name = path.split("__")
        place = tables
        for table in tables_on_the_way:
            place = place[table]
        place[name] = value
    return parse_machine(tables, "small")


def make_ports(count: int, queueing: str = "serialised") -> dict:
    return {
        "count": count,
        "queueing": queueing,
        "ranges": [{"over_bytes": -1, "first": 1, "last": count}],
    }


def make_tapes(**changes: object) -> dict:
    """Make one tape chain of 5 B/s and one silo with one drive; loading takes 7 s."""
    return {
        "chain_count": 1,
        "chain_bytes_per_s": 5,
        "drive_queue": "silo",
        "silos": [{"chain": 1, "drive_count": 1}],
        "load": {"law": "fixed", "load_s": 7},
        **changes,
    }


def make_library(**changes: object) -> dict:
    """Make a library: 4 drives of 5 B/s, 1 robot; a mount takes 4 + 7 s, a dismount 3 + 2 + 4 s."""
    return {
        "cartridges": {"capacity_bytes": 5000, "placement": "time"},
        "drives": [{"count": 4, "bytes_per_s": 5, "load_s": 7, "rewind_s": 3, "unload_s": 2}],
        "robots": {"count": 1, "move_s": 4},
        **changes,
    }


def make_library_machine(tapes: dict, **changes: object) -> Machine:
    """Make a machine on which only tapes take time."""
    fast: dict = {
        "ports": make_ports(1000),
        "users": {"limit_count": 1000},
        "network": {"in_bytes_per_s": 1e15, "out_bytes_per_s": 1e15},
        "disk__chain_bytes_per_s": 1e15,
        "disk__lv_bytes": 10**12,
        "disk__largest_file_bytes": min(10**12, tapes["cartridges"]["capacity_bytes"]),
    }
    return make_machine(tapes=tapes, **fast | changes)


def make_trace(*jobs: tuple[float, str, int, int, int]) -> pl.DataFrame:
    """Make a trace of jobs given as (submitted_s, direction, user, file, size_bytes)."""
    return pl.DataFrame(
        jobs,
        schema={
            "submitted_s": pl.Float64,
            "direction": pl.String,
            "user": pl.Int64,
            "file": pl.Int64,
            "size_bytes": pl.Int64,
        },
        orient="row",
    )


def make_held(*files: tuple[int, int, float, bool]) -> pl.DataFrame:
    """Make an inventory of files given as (file, size_bytes, age_s, is_stored)."""
    return pl.DataFrame(
        files,
        schema={"file": pl.Int64, "size_bytes": pl.Int64, "age_s": pl.Float64, "is_stored": pl.Boolean},
        orient="row",
    )
