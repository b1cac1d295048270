"""LLNL's figure 4-1: what a larger limit for each user changes, next to the published numbers."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from tapewise.simulator.demand.fortnights import make_fortnight
from tapewise.simulator.demand.trace_files import complete_trace
from tapewise.simulator.grid_statistics import Spread, compare, describe_coverage, spread, take
from tapewise.simulator.grids import Grid
from tapewise.simulator.inputs import Requests
from tapewise.simulator.machines import bundled_machine
from tapewise.simulator.results import Result
from tapewise.simulator.variants import list_variants, parse_change

MACHINE = "llnl-unitree-1998"
BEGAN_AT = datetime(1998, 5, 1, 7, tzinfo=UTC)  # midnight in Livermore
# Lost job-hours in two weeks, by limit and queue, and the net that the source reads from its figure.
PUBLISHED = {(10, "user"): 100, (10, "port"): 50, (20, "user"): 50, (20, "port"): 80}
PUBLISHED_NET = -20
_JOINT_LIMITS = (10, 13, 20)
_QUEUES = ("user", "port")


def make_grid(seed_count: int) -> Grid:
    """Make the study: the machine as in the file (a limit of 10), a limit of 20, and both queued jointly."""
    machine = bundled_machine(MACHINE)
    limits = ",".join(map(str, _JOINT_LIMITS))
    joint = [parse_change("ports.queueing=joint"), parse_change(f"users.limit_count={limits}")]
    variants = [
        *list_variants(machine, [parse_change("users.limit_count=20")]),
        *list_variants(machine, joint)[1:],
    ]
    return Grid(variants, range(1, seed_count + 1), read_fortnight)


def read_fortnight(seed: int) -> Requests:
    """Make the requests of a seed."""
    trace, _ = complete_trace(make_fortnight(seed))
    return Requests(trace, BEGAN_AT, "America/Los_Angeles", "model", "fortnight", demand_kind="synthetic")


def describe_figure(grid: Grid, results: Sequence[Result]) -> Iterator[str]:
    """Yield the table and what it says, line by line."""
    seeds = len(grid.seeds)
    hours = {
        (limit, queue): take(results, place, f"lost_{queue}_h")
        for place, limit in enumerate((10, 20))
        for queue in _QUEUES
    }
    yield "LLNL's figure 4-1: job-hours lost in two weeks, by limit of a user's simultaneous transfers"
    yield f"  {'limit':<7}{'queue':<7}{'published':>10}{'here':>8}  {'(quartiles)':<20}{'here/published':>15}"
    for (limit, queue), published in PUBLISHED.items():
        found = _known(spread(hours[limit, queue]))
        quartiles = f"({found.low:,.1f} to {found.high:,.1f})"
        yield (
            f"  {limit:<7}{queue:<7}{published:>10}{found.middle:>8,.1f}  {quartiles:<20}"
            f"{found.middle / published:>15.2f}"
        )
    yield f"Medians over {seeds} seeds. With a limit of 20 instead of 10, seed by seed:"
    nets = {limit: [a + b for a, b in zip(*(hours[limit, queue] for queue in _QUEUES), strict=True)]
            for limit in (10, 20)}  # fmt: skip
    for name, pair, published_change in (
        ("user hours", (hours[10, "user"], hours[20, "user"]), -50),
        ("port hours", (hours[10, "port"], hours[20, "port"]), 30),
        ("both", (nets[10], nets[20]), PUBLISHED_NET),
    ):
        yield f"  {name}: {_describe_change(*pair)}; published {published_change:+d}"
    change = compare(hours[10, "user"], hours[20, "user"])
    yield f"  {describe_coverage(change.coverage_ratio if change else None, seeds)}"
    yield from _describe_joint(grid, results)
    yield "The requests are made up: only their counts, share from tape and mean sizes are the source's."
    yield "The last column says how far our hours are from the published ones."
    yield "How long the queues are depends on how users ask for many files at once, which no source says."


def _known(found: Spread | None) -> Spread:
    assert found is not None  # lost hours are always known
    return found


def _describe_change(before: Sequence[float], after: Sequence[float]) -> str:
    found = compare(before, after)
    assert found is not None
    interval = f" (interval {found.low:+,.1f} to {found.high:+,.1f})" if found.low is not None else ""
    counts = f"lower with {found.lower_count} of {found.seed_count}, higher with {found.higher_count}"
    return f"{found.middle:+,.1f}{interval}, {counts}"


def _describe_joint(grid: Grid, results: Sequence[Result]) -> Iterator[str]:
    """Yield what both limits cost if a job waits for user and port at once, and whether 13 ports end that."""
    places = {
        each.machine.users.limit_count: place
        for place, each in enumerate(grid.variants)
        if each.machine.ports.queueing == "joint"
    }
    losses = {limit: take(results, place, "lost_h") for limit, place in places.items()}
    shown = ", ".join(
        f"{_known(spread(losses[limit])).middle:,.1f} h with {limit}" for limit in _JOINT_LIMITS
    )
    # The waits are named differently, so the sums are rounded differently.
    is_flat = all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(losses[13], losses[20], strict=True))
    flat = "the same" if is_flat else "not the same"
    yield f"Queued jointly, all lost hours: {shown}; {flat} with 13 and 20 for every seed."
