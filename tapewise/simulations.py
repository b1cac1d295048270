"""`tapewise.simulate`: a run of a trace on a machine, without a database."""

import os
from pathlib import Path

import polars as pl

from tapewise.extras import explain_missing_module
from tapewise.simulator.demand.traces import inventory_of, read_trace
from tapewise.simulator.machines import Machine, find_machine
from tapewise.simulator.results import Run


def simulate(
    machine: str | os.PathLike[str] | Machine,
    trace: str | os.PathLike[str] | pl.DataFrame,
    *,
    seed: int,
    inventory: pl.DataFrame | None = None,
    sample_s: float = 600.0,
) -> Run:
    """Run a trace on a machine. The same arguments give the same result, to the last bit.

    This needs the extra `simulator`. At the start, the disk holds only the files of the inventory. Unlike
    `tapewise simulate run`, this function does not fill the disk with files that nobody requests.

    Args:
        machine: a machine file, the name of a bundled machine (`tapewise simulate machine` lists them), or a
            `Machine` made from such a file.
        trace: the requests in the order of submission: a Parquet or CSV file, as written by `tapewise
            workload trace`, or a frame with the columns `submitted_s` (seconds since the trace began),
            `direction` (put or get), `user`, `file` (numbers or strings) and `size_bytes`.
        seed: a whole number, 0 or more, that determines everything random.
        inventory: the files on disk at the start: `file`, `size_bytes`, `age_s` (seconds since the last use).
            None: the files whose `origin` in the trace is `disk`, or no files if the trace has no such
                column.
        sample_s: seconds between two samples of the machine's state.

    Returns:
        A `Run`. `jobs` has one row for each request, with its waits by cause and its times. `samples` has the
        state of the machine every `sample_s` seconds, and `totals` has sums and counts.

    Raises:
        MachineError: the machine file is missing or wrong, or the machine is too large for a run.
        TraceError: the trace or the inventory is wrong, or asks for something that the machine cannot do.
        SimulationError: the seed or `sample_s` is out of range.
        MissingExtraError: the extra `simulator` is not installed.

    Example:
        >>> run = tapewise.simulate("llnl-unitree-1998", "trace.parquet", seed=1)
        >>> run.jobs.select(pl.col("drive_wait_s").mean())
    """
    try:
        # The compiler takes seconds to load, and only an extra installs it.
        from tapewise.simulator.runs import run_trace  # noqa: PLC0415  # see above
    except ModuleNotFoundError as error:
        raise explain_missing_module(error) or error from error
    built = machine if isinstance(machine, Machine) else find_machine(str(Path(machine).expanduser()))
    requests = trace if isinstance(trace, pl.DataFrame) else read_trace(Path(trace).expanduser())
    if inventory is None and "origin" in requests.columns:
        inventory = inventory_of(requests)
    return run_trace(built, requests, seed=seed, inventory=inventory, sample_s=sample_s)
