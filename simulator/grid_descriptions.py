"""Describes the results of a study as a table and sentences."""

from collections.abc import Iterator, Sequence

from tapewise.simulator.capacities import format_count
from tapewise.simulator.grid_statistics import Difference, compare, describe_coverage, spread, take
from tapewise.simulator.grids import LOST, QUANTILES, Grid
from tapewise.simulator.libraries import Library
from tapewise.simulator.machines import Machine
from tapewise.simulator.results import Result

# The columns of the table, and the figures in each.
_COLUMNS = {
    **{f"{cause} lost h": (f"lost_{cause}_h",) for cause in LOST},
    **{
        f"{direction} {' / '.join(QUANTILES)} s": tuple(f"{direction}_wait_{name}_s" for name in QUANTILES)
        for direction in ("put", "get")
    },
    "hit ratio": ("hit_ratio",),
    "misses": ("miss_count",),
    "mounts": ("mount_count",),
    "drive h": ("drive_h",),
    "drives used": ("drive_utilisation_ratio",),
    "robots used": ("robot_utilisation_ratio",),
    "ports used": ("port_utilisation_ratio",),
    "disk used": ("disk_utilisation_ratio",),
    "cost a year": ("cost_per_year",),
}
# The figures of each pool of the disk and of each technology; the name of the part comes before them.
_PART_COLUMNS = {
    "pool": {"hit_ratio": "hit ratio", "miss_count": "misses"},
    "technology": {"mount_count": "mounts", "drive_h": "drive h", "used_ratio": "drives held"},
}
# An option is best if it is not worse than any other in all of these.
_JUDGED = ("lost_h", "put_wait_p95_s", "get_wait_p95_s", "miss_count")


def describe_results(grid: Grid, results: Sequence[Result], *, is_trace: bool) -> Iterator[str]:
    """Yield the table of a study and what it says, line by line. The first variant is the file's machine."""
    seeds = len(grid.seeds)
    yield f"Medians over {format_count(seeds, 'seed')}; of lost hours, also the quartiles."
    yield "  Lost hours are those of all requests together: waits for a limit, a port, a file, a drive or"
    yield "  room, contention, and tries that failed, but not loading. p50, p95 and p99 are of single"
    yield "  requests' waits, with loading."
    yield "  A get that joins the stage of another neither hits nor misses. Drive h: with a cartridge in the"
    yield "  drive, idle or not. Used: the share at work (of the disk: full), on average over the time in"
    yield "  which requests come."
    if any(name.startswith("technology.") for name in results[0].figures):
        yield "  Drives held: drive h, as a share of the time of all drives that take the cartridges."
    if is_trace:
        yield "  The requests are the same with each seed. Seeds only change what is drawn: files on disk at"
        yield "  the start, and the machine's times. The intervals say nothing about other weeks: for these,"
        yield "  run a model (--model)."
    if not all(each.is_warm for each in results):
        yield "  Some runs began before the disk was in normal use: their figures include that time."
    names = [variant.name for variant in grid.variants]
    yield ""
    yield from _tabulate(grid.variants[0].machine, names, results)
    yield from _describe_filling(names, results)
    yield ""
    if len(names) > 1:
        yield from _describe_differences(names, results, seeds)


def _tabulate(machine: Machine, names: Sequence[str], results: Sequence[Result]) -> Iterator[str]:
    columns = _COLUMNS | _name_part_columns(machine)
    # A cause for which nothing was lost has no column; of the others, 0 is an answer.
    shown = {
        title: figures
        for title, figures in columns.items()
        if any(each.figures[figures[0]] is not None for each in results)
        and (not figures[0].startswith("lost_") or any(each.figures[figures[0]] for each in results))
    }
    rows = [["", "lost h", "(quartiles)", *shown]]
    for number, name in enumerate(names):
        lost = spread(take(results, number, "lost_h"))
        quartiles = f"({_format(lost.low)} to {_format(lost.high)})" if lost else ""
        cells = (_describe_medians(results, number, figures) for figures in shown.values())
        rows.append([name, _format(lost.middle) if lost else "", quartiles, *cells])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        first, *others = (
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"  {'  '.join([first, *others])}".rstrip()


def _describe_medians(results: Sequence[Result], number: int, figures: Sequence[str]) -> str:
    """Return the medians of a variant's figures; nothing if none is known, as of waits without gets."""
    found = (spread(take(results, number, figure)) for figure in figures)
    return " / ".join(_format(each.middle) for each in found if each)


def _name_part_columns(machine: Machine) -> dict[str, tuple[str]]:
    """Return the columns of the pools of the disk and of the technologies, in the file's order."""
    technologies = machine.tapes.technologies if isinstance(machine.tapes, Library) else {}
    return {
        f"{name} {title}": (f"{what}.{name}.{figure}",)
        for what, names in (("pool", machine.disk.pools), ("technology", technologies))
        for name in names
        for figure, title in _PART_COLUMNS[what].items()
    }


def _describe_filling(names: Sequence[str], results: Sequence[Result]) -> Iterator[str]:
    """Yield what misses while disks that are larger than the measured one fill, with the first seed."""
    for number, name in enumerate(names):
        counts, seconds = (take(results, number, figure) for figure in ("filling_miss_count", "filling_s"))
        if counts and seconds:
            days = seconds[0] / 86_400
            in_days = f", nine tenths of them in the first {days:,.1f} days" if counts[0] else ""
            yield (
                f"  {name}: if this disk had replaced the measured one when the log began,"
                f" {format_count(int(counts[0]), 'more get')} would miss{in_days}"
            )


def _describe_differences(names: Sequence[str], results: Sequence[Result], seeds: int) -> Iterator[str]:
    yield "Lost hours less those of the machine as in the file, seed by seed:"
    base, coverage_ratio = take(results, 0, "lost_h"), None
    for number, name in enumerate(names[1:], start=1):
        found = compare(base, take(results, number, "lost_h"))
        if found is not None:
            yield f"  {name}: {_describe_difference(found)}"
            coverage_ratio = found.coverage_ratio
    yield f"  {describe_coverage(coverage_ratio, seeds)}"
    yield from _name_best(names, results)


def _describe_difference(found: Difference) -> str:
    ratio = f", {found.ratio:.3g} times as many" if found.ratio is not None else ""
    counts = (
        f"; fewer with {found.lower_count} of {format_count(found.seed_count, 'seed')},"
        f" more with {found.higher_count}"
    )
    if found.low is None or found.high is None:
        return f"{_format_signed(found.middle)}{ratio}{counts}"
    interval = f" (interval {_format_signed(found.low)} to {_format_signed(found.high)})"
    verdict = "" if found.is_clear else "; not a difference beyond chance"
    return f"{_format_signed(found.middle)}{interval}{ratio}{counts}{verdict}"


def _name_best(names: Sequence[str], results: Sequence[Result]) -> Iterator[str]:
    """Name the option that is not worse than any other in anything that is judged, by the medians."""
    figures = [figure for figure in _JUDGED if take(results, 0, figure)]
    medians = {
        figure: [
            found.middle if (found := spread(take(results, n, figure))) else None for n in range(len(names))
        ]
        for figure in figures
    }
    if any(value is None for values in medians.values() for value in values):
        return
    best = [
        name
        for number, name in enumerate(names)
        if all(
            values[number] == min(value for value in values if value is not None)
            for values in medians.values()
        )
    ]
    if len(best) == 1:
        yield f"Best in lost hours, waits (p95) and misses, by the medians: {best[0]}."
    elif not best:
        yield "No option is best in all of lost hours, waits (p95) and misses, by the medians."
    elif len(best) < len(names):
        yield f"Best in lost hours, waits (p95) and misses, and equal by the medians: {'; '.join(best)}."
    else:
        yield "By the medians, the options do not differ in lost hours, waits (p95) or misses."


def _format(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _format_signed(value: float) -> str:
    return f"{'+' if value >= 0 else '-'}{_format(abs(value))}"
