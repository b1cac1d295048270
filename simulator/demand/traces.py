"""Traces (what a machine is asked to do) and inventories (which files are on its disk when a trace begins).

A trace has one row per job, in the order of submission:

    submitted_s   seconds since the trace began
    direction     put (a client writes) or get (it reads)
    user, file    the user and the file, as numbers or strings
    size_bytes

It may also have `account`, `client` and `class_of_service`, which limits and priorities of a machine need;
pools of its disk need the last.
A file that is neither put nor in the inventory is on tape. A put makes a new version of its file: gets before
it read what was there before, and later ones what it wrote. The version that was overwritten takes room on
disk until it is purged, because nothing is deleted. A trace from the warehouse (`tapewise workload trace`)
has more columns; its `origin` says which files were on disk. An inventory has one row per file: `file`,
`size_bytes`, `age_s` (since its last use) and `is_stored` (true if omitted). If the disk has pools, it says
in `disk_pool` where files are that the trace does not have.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tapewise.schema.errors import TraceError
from tapewise.schema.moments import is_timezone
from tapewise.simulator.demand.versions import find_versions
from tapewise.simulator.disks import POOLED, find_pool
from tapewise.simulator.kernel.tables import Floats, Integers
from tapewise.simulator.libraries import Library
from tapewise.simulator.limits import COLUMNS as LIMITED_COLUMNS
from tapewise.simulator.limits import UNKNOWN, Gates, find_gates, read_values
from tapewise.simulator.machines import Machine

LATEST_S = 1e10
MADE_UP_LIMIT = 200_000
LATEST_USE_S = 14 * 86_400.0  # how long ago made-up files may have been used
KINDS = ("measured", "synthetic", "simulated")
ORIGINS = ("put", "disk", "tape", "trace")
COLUMNS = ("submitted_s", "direction", "user", "file", "size_bytes")
INVENTORY_COLUMNS = ("file", "size_bytes", "age_s")


@dataclass(frozen=True)
class Demand:
    """A trace as arrays: users and files are numbers from 0, and `inventory` lists the files on disk.

    Each version of a file is a file of its own. `file_pools` has the number of its pool on disk, and
    `file_services` that of how it is served on tape (`Library.services`).
    `early_get_count` gets read a file that the trace puts only later, and `overwriting_count` puts write a
    file that was there before.
    """

    submitted_s: Floats
    is_put: np.ndarray[tuple[int], np.dtype[np.bool_]]
    user: Integers
    file: Integers
    size_bytes: Integers
    user_count: int
    file_sizes: Integers
    file_pools: Integers
    file_services: Integers
    inventory: Integers
    inventory_ages_s: Floats
    inventory_is_stored: np.ndarray[tuple[int], np.dtype[np.bool_]]
    early_get_count: int
    overwriting_count: int
    gates: Gates


def read_trace(path: Path) -> pl.DataFrame:
    """Read a trace from Parquet, or from CSV with a header line if `path` ends in .csv or .csv.gz.

    Use `check_trace` to check the contents. Raises TraceError if the file cannot be read, or if CSV has text
    where a number should be; the message names the file and, for CSV, the row and column.
    """
    is_csv = path.name.endswith((".csv", ".csv.gz"))
    try:
        with path.open("rb") as file:
            if not is_csv:
                return pl.read_parquet(file)
            texts = pl.read_csv(file.read(), infer_schema=False)
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or error}") from error
    except pl.exceptions.PolarsError as error:
        raise TraceError(f"{path}: not a {'CSV' if is_csv else 'Parquet'} file: {error}") from error
    return _read_numbers(texts, path)


def read_origin(path: Path) -> dict[str, Any]:
    """Return the origin that `tapewise workload trace` recorded in a Parquet file, or {} if there is none.

    `archive`, `kind` and `timezone` describe the archive that the requests come from.
    """
    if path.name.endswith((".csv", ".csv.gz")):
        return {}
    try:
        origin = json.loads(pl.read_parquet_metadata(path).get("tapewise_trace", "{}"))
    except (OSError, ValueError, pl.exceptions.PolarsError):
        return {}
    is_whole = isinstance(origin, dict) and origin.get("kind") in KINDS
    return origin if is_whole and is_timezone(str(origin.get("timezone"))) else {}


def _read_numbers(texts: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Convert the columns of a CSV file to numbers; users and files only if every value is a number."""
    for name, dtype in (("submitted_s", pl.Float64), ("size_bytes", pl.Int64)):
        if name not in texts.columns:
            raise TraceError(f"{path}: column {name} is missing", hint=f"It needs {', '.join(COLUMNS)}.")
        numbers = texts[name].cast(dtype, strict=False)
        wrong = (numbers.is_null() & texts[name].is_not_null()).arg_true()
        if len(wrong):
            raise TraceError(f"{path}: row {wrong[0] + 1}: {name} {texts[name][wrong[0]]!r} is not a number")
        texts = texts.with_columns(numbers)
    for name in ("user", "file"):
        if name in texts.columns:
            numbers = texts[name].cast(pl.Int64, strict=False)
            # As names, 007 and 7 are different.
            if numbers.cast(pl.String).equals(texts[name]):
                texts = texts.with_columns(numbers)
    return texts


def inventory_of(trace: pl.DataFrame) -> pl.DataFrame:
    """Return the files that a trace says were on disk when it began (`origin` is disk), as an inventory.

    All of them are also on tape. They count as last used when the trace begins, as in LLNL's model, which
    writes them at time 0 (appendix B, section 5.2.1). Raises TraceError if the trace has no `origin` or a row
    is wrong.
    """
    trace = _cast(trace, (*COLUMNS, "origin"), "trace")
    is_unknown = ~trace["origin"].is_in(ORIGINS).to_numpy()
    _refuse(trace, is_unknown, "origin", f"is not one of {', '.join(ORIGINS)}")
    return (
        trace.filter(pl.col("origin") == "disk")
        .unique("file", keep="first", maintain_order=True)
        .select("file", "size_bytes", age_s=pl.lit(0.0), is_stored=pl.lit(value=True))
    )


def make_inventory(trace: pl.DataFrame, machine: Machine, *, fill_ratio: float, seed: int) -> pl.DataFrame:
    """Make up the files on a disk in use, with sizes drawn from the trace and ages of up to two weeks.

    All of them are also on tape. With this inventory, a run need not begin with an empty disk. If filling the
    disk would take more than `MADE_UP_LIMIT` files, all sizes are multiplied by a common factor. Files are
    called `inventory-1` and so on, so a trace that uses this inventory must also identify files by strings.
    """
    if not 0 <= fill_ratio < 1:
        raise TraceError(f"fill_ratio is {fill_ratio}, not from 0 to below 1")
    sizes = trace.filter(pl.col("size_bytes") > 0)["size_bytes"].to_numpy()
    rng = np.random.default_rng([seed, 2])
    target = fill_ratio * machine.disk.capacity_bytes
    if len(sizes) and target > MADE_UP_LIMIT * sizes.mean():
        factor = target / (MADE_UP_LIMIT * sizes.mean())
        sizes = np.minimum(sizes * factor, machine.disk.largest_file_bytes).astype(np.int64)
    drawn = np.empty(0, np.int64)
    while len(sizes) and drawn.sum() < target:
        count = int(1.1 * (target - drawn.sum()) / sizes.mean()) + 10
        drawn = np.concatenate([drawn, rng.choice(sizes, count)])
    drawn = drawn[: int(np.searchsorted(np.cumsum(drawn), target, side="right"))]
    return pl.DataFrame(
        {
            "file": [f"inventory-{number}" for number in range(1, len(drawn) + 1)],
            "size_bytes": drawn,
            "age_s": rng.random(len(drawn)) * LATEST_USE_S,
        },
        schema={"file": pl.String, "size_bytes": pl.Int64, "age_s": pl.Float64},
    )


def check_trace(trace: pl.DataFrame, machine: Machine, inventory: pl.DataFrame | None = None) -> Demand:
    """Check that a trace is consistent, and that it fits the machine and the inventory.

    Raises:
        TraceError: a column is missing or a row is wrong; the message gives the first such row, from 1.
    """
    whole = trace
    trace = _cast(trace, COLUMNS, "trace")
    if trace.schema["direction"] not in (pl.String, pl.Categorical, pl.Enum):
        raise TraceError(f"the trace's direction is of type {trace.schema['direction']}, not strings")
    largest = machine.disk.largest_file_bytes
    time_s, sizes = trace["submitted_s"].to_numpy(), trace["size_bytes"].to_numpy()
    is_put = (trace["direction"] == "put").to_numpy()
    is_outside = ~((time_s >= 0) & (time_s <= LATEST_S))
    _refuse(trace, is_outside, "submitted_s", "is not a valid time in a trace")
    _refuse(trace, np.diff(time_s, prepend=0.0) < 0, "submitted_s", "is before that of the row above")
    is_neither = ~is_put & (trace["direction"] != "get").to_numpy()
    _refuse(trace, is_neither, "direction", "is neither put nor get")
    _refuse(trace, sizes < 0, "size_bytes", "is below 0")
    _refuse(
        trace,
        sizes > largest,
        "size_bytes",
        f"is more than the machine accepts ({largest})",
        hint=f"`tapewise workload trace --largest {largest}` leaves such requests out, and counts them.",
    )
    held = _check_inventory(inventory, trace)
    versions = find_versions(held["file"], trace["file"], is_put)
    file_sizes = np.concatenate([held["size_bytes"].to_numpy(), sizes])[versions.first_row]
    _refuse(trace, sizes != file_sizes[versions.number], "size_bytes", "is not the file's size above")
    if machine.tapes is None:
        is_lost = ~is_put & (versions.version == 0) & (versions.number >= held.height)
        _refuse(trace, is_lost, "file", "is on tape, but the machine has none")
    pools = place_in_pools(whole, machine).to_numpy()
    services = _find_services(whole, machine).to_numpy()
    held_pools, held_services = _place_inventory(held, versions.asked_row, pools, services, machine)
    _check_room(trace, pools, held, held_pools, machine)
    limited = whole.select("user", *(name for name in LIMITED_COLUMNS if name in whole.columns))
    gates = find_gates(limited, machine.users.limit_count, machine.limits, machine.priorities)
    user_names, user = np.unique(trace["user"].to_numpy(), return_inverse=True)
    return Demand(
        submitted_s=time_s,
        is_put=is_put,
        user=user.astype(np.int64),
        file=versions.number,
        size_bytes=sizes,
        user_count=len(user_names),
        file_sizes=file_sizes,
        file_pools=np.concatenate([held_pools, pools])[versions.first_row],
        file_services=np.concatenate([held_services, services])[versions.first_row],
        inventory=np.arange(held.height),
        inventory_ages_s=held["age_s"].to_numpy(),
        inventory_is_stored=held["is_stored"].to_numpy(),
        early_get_count=int(versions.is_early.sum()),
        overwriting_count=int(versions.is_overwriting.sum()),
        gates=gates,
    )


def _cast(frame: pl.DataFrame, names: tuple[str, ...], what: str) -> pl.DataFrame:
    """Select the columns, and check that they have the required types and no nulls."""
    for name in names:
        if name not in frame.columns:
            raise TraceError(f"the {what} has no column {name}", hint=f"It needs {', '.join(names)}.")
    frame = frame.select(names)
    for name, dtype in frame.schema.items():
        is_time = name in ("submitted_s", "age_s")
        if name == "size_bytes" and not dtype.is_integer():
            raise TraceError(f"the {what}'s {name} is of type {dtype}, not whole numbers")
        if is_time and not dtype.is_numeric():
            raise TraceError(f"the {what}'s {name} is of type {dtype}, not numbers")
        if name in ("user", "file") and not (dtype.is_integer() or dtype == pl.String):
            raise TraceError(f"the {what}'s {name} is of type {dtype}, neither whole numbers nor strings")
        nulls = frame[name].is_null()
        if nulls.any():
            raise TraceError(f"row {nulls.arg_true()[0] + 1} of the {what}: {name} is missing")
    return frame.with_columns(
        pl.col(name).cast(pl.Float64 if name != "size_bytes" else pl.Int64, strict=False)
        for name in names
        if name in ("submitted_s", "age_s", "size_bytes")
    )


def _refuse(
    frame: pl.DataFrame,
    is_wrong: npt.NDArray[np.bool_],
    name: str,
    reason: str,
    what: str = "trace",
    *,
    hint: str | None = None,
) -> None:
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise TraceError(f"row {row + 1} of the {what}: {name} {frame[name][row]} {reason}", hint=hint)


def _check_inventory(inventory: pl.DataFrame | None, trace: pl.DataFrame) -> pl.DataFrame:
    dtype = trace.schema["file"]
    if inventory is None:
        inventory = pl.DataFrame(schema={"file": dtype, "size_bytes": pl.Int64, "age_s": pl.Float64})
    stored = pl.Series("is_stored", [True]).new_from_index(0, inventory.height)
    if "is_stored" in inventory.columns:
        stored = inventory["is_stored"]
        if stored.dtype != pl.Boolean or stored.null_count():
            raise TraceError("the inventory's is_stored is not true or false everywhere")
    held = _cast(inventory, INVENTORY_COLUMNS, "inventory")
    if held.schema["file"] != dtype:
        raise TraceError(f"the inventory's file is of type {held.schema['file']}, the trace's of {dtype}")
    age_s = held["age_s"].to_numpy()
    _refuse(held, (held["size_bytes"] < 0).to_numpy(), "size_bytes", "is below 0", "inventory")
    _refuse(held, ~(np.isfinite(age_s) & (age_s >= 0)), "age_s", "is not a valid age", "inventory")
    if held["file"].n_unique() < held.height:
        is_again = ~held["file"].is_first_distinct().to_numpy()
        _refuse(held, is_again, "file", "is listed twice", "inventory")
    pool = inventory["disk_pool"] if "disk_pool" in inventory.columns else pl.lit(None, pl.String)
    held = held.with_columns(stored.alias("is_stored"), pool.alias("pool_name"))
    # The oldest files come first: they arrived in this order, and are stored to tape in it.
    return held.sort("age_s", descending=True, maintain_order=True)


def place_in_pools(trace: pl.DataFrame, machine: Machine) -> pl.Series:
    """Return the number of the pool of each request: that of the class of the first one for its file.

    Requests for later versions of a file have the class of the first one for that version. Raises TraceError
    if the machine's disk has pools and the trace no classes, or if no pool takes a class.
    """
    if not machine.disk.pools:
        return pl.repeat(0, trace.height, dtype=pl.Int64, eager=True)
    return _place_classes(
        trace,
        "disk.pools",
        *find_pool(machine.disk_pools),
        reason="is in no pool of the disk",
        hint="Add it to the classes_of_service of a pool, or omit these for one pool, which then takes all"
        " others.",
    )


def _find_services(trace: pl.DataFrame, machine: Machine) -> pl.Series:
    """Return the number of the service of the file of each request."""
    if not isinstance(machine.tapes, Library) or not machine.tapes.has_classes:
        return pl.repeat(0, trace.height, dtype=pl.Int64, eager=True)
    return _place_classes(
        trace,
        "tapes.drives.classes_of_service",
        *machine.tapes.find_service(),
        reason="is served by no drive",
        hint="Add it to the classes_of_service of drives, or omit these for some, which then serve all.",
    )


def _place_classes(
    trace: pl.DataFrame,
    field: str,
    numbers: Mapping[str, int],
    others: int | None,
    *,
    reason: str,
    hint: str,
) -> pl.Series:
    """Return the number of the class of the first request for each request's version of its file."""
    classes = read_values(trace, POOLED, field).fill_null(UNKNOWN)
    is_put = pl.col("direction") == "put"
    found = trace.select(
        "file",
        version=is_put.cum_sum().over("file"),
        class_of_service=classes,
    ).with_columns(pool=pl.col(POOLED).replace_strict(numbers, default=others, return_dtype=pl.Int64))
    first = found.select(POOLED, pool=pl.col("pool").first().over("file", "version"))
    _refuse(first, first["pool"].is_null().to_numpy(), POOLED, reason, hint=hint)
    return first["pool"]


def _place_inventory(
    held: pl.DataFrame, asked_row: Integers, pools: Integers, services: Integers, machine: Machine
) -> tuple[Integers, Integers]:
    """Return the pool on disk and the service on tape of each of the inventory's files.

    They are those of the file's first request, where `asked_row` has one. Otherwise the pool is the one that
    the inventory names, and the service is the first: such a file may be written, and is never read.
    """
    is_asked = asked_row >= 0
    held_services, held_pools = np.zeros((2, held.height), np.int64)
    held_services[is_asked] = services[asked_row[is_asked]]
    if not machine.disk.pools:
        return held_pools, held_services
    names = {pool.name: number for number, pool in enumerate(machine.disk_pools)}
    named = held["pool_name"].replace_strict(names, default=None, return_dtype=pl.Int64)
    _refuse(
        held,
        ~is_asked & named.is_null().to_numpy(),
        "file",
        f"is not in the trace, so disk_pool must name its pool ({', '.join(names)})",
        "inventory",
    )
    held_pools[:] = named.fill_null(0).to_numpy()
    held_pools[is_asked] = pools[asked_row[is_asked]]
    return held_pools, held_services


def _check_room(
    trace: pl.DataFrame, pools: Integers, held: pl.DataFrame, held_pools: Integers, machine: Machine
) -> None:
    """Refuse files that are larger than their pool, and more files than a pool holds."""
    sizes, held_sizes = trace["size_bytes"].to_numpy(), held["size_bytes"].to_numpy()
    for number, pool in enumerate(machine.disk_pools):
        what = f"pool {pool.name} of the disk" if machine.disk.pools else "the disk"
        _refuse(
            trace,
            (pools == number) & (sizes > pool.capacity_bytes),
            "size_bytes",
            f"is more than {what} holds ({pool.capacity_bytes})",
        )
        total = int(held_sizes[held_pools == number].sum())
        if total > pool.capacity_bytes:
            raise TraceError(
                f"the inventory's {total} bytes are more than {what} holds ({pool.capacity_bytes})"
            )
