"""Describes simulations and their results, for the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click
import psycopg
from psycopg.rows import class_row

from tapewise.schema.errors import SimulationError
from tapewise.schema.texts import escape_controls
from tapewise.simulator.capacities import format_count, format_size
from tapewise.simulator.demand.tails import LEAST_TAIL, MOST_TAIL
from tapewise.simulator.libraries import LIBRARY
from tapewise.simulator.results import STORED_TIMES, DiskPoolTotals, Level, Outages

if TYPE_CHECKING:  # importing it loads the compiler
    from tapewise.simulator.calibrations import Check
    from tapewise.simulator.plans import Plan

# The names of the causes in the table, in the order of STORED_TIMES.
_CAUSES = ("user", "port", "file", "drive", "load", "room", "latency", "staging", "transfer", "contention")
_QUEUES = {
    "user": "their user's limit", "limit": "another limit", "port": "a port",
    "file": "another request for their file",
    "drive": "a drive", "load": "a load", "locate": "the way to the file", "space": "room on disk",
    "retry": "their next try",
}  # fmt: skip
# A calibrated machine whose hit ratio is further from the measured one is not the measured one.
MOST_OFF_RATIO = 0.02


@dataclass(frozen=True)
class RunSummary:
    """A simulated archive as `mart.simulation_runs` shows it."""

    archive: str
    timezone: str
    demand: str
    demand_name: str
    demand_kind: str | None
    options: dict[str, Any]
    machine_title: str
    seed: int
    job_count: int
    unfinished_count: int
    totals: dict[str, Any]
    is_circular: bool
    began_at: datetime
    steady_at: datetime | None
    ended_at: datetime
    simulated_at: datetime
    placement: str | None

    @property
    def machine(self) -> str:
        """The machine's title, and what a study changed."""
        option = self.options.get("option")
        return f"{self.machine_title} with {option}" if option else self.machine_title

    @property
    def warnings(self) -> list[str]:
        """What a reader must know before reading any figure of the run."""
        return find_warnings(self.totals)


def find_warnings(totals: Mapping[str, Any]) -> list[str]:
    """Return the warnings that follow from the totals of a run, as `mart.simulation_runs` shows them."""
    displaced_count = totals.get("displaced_count", 0)  # an earlier version did not store it
    if not displaced_count:
        return []
    return [
        f"{format_count(displaced_count, 'file that was', 'files that were')} on disk at the start found no"
        f" room on the machine's disk and began on tape; {totals['displaced_staged_count']:,} of"
        f" {format_count(totals['staged_count'], 'stage is', 'stages are')} the first of such a file"
    ]


def style_warning(text: str) -> str:
    """Format a warning as a line with colour codes, which `click.echo` writes only to a terminal."""
    return click.style(f"WARNING: {text}.", fg="yellow", bold=True)


def describe_plan(plan: "Plan") -> Iterator[str]:
    """Yield a description of the planned run, line by line."""
    given, held = plan.given, plan.held
    if displaced_count := len(held.displaced_files):
        yield style_warning(
            format_count(
                displaced_count,
                "file that was on disk at the start finds no room on the machine's disk and begins on tape",
                "files that were on disk at the start find no room on the machine's disk and begin on tape",
            )
        )
    yield from _describe_measured(plan.options, is_changed=plan.is_disk_changed)
    used_ratio = int(held.inventory["size_bytes"].sum()) / plan.machine.disk.capacity_bytes
    machine = escape_controls(plan.machine.title)
    yield (
        f"{format_count(given.trace.height, 'request')} on {machine}; its disk is {used_ratio:.0%} full at"
        f" the start: {format_count(held.trace_count, 'requested file')},"
        f" {held.made_up_count:,} made-up ones."
    )
    for reason, count in given.left_out.items():
        yield f"  left out: {count:,} {reason}"
    if given.unknown_origin_count:
        yield (
            f"  for {format_count(given.unknown_origin_count, 'get')} it is unknown where the file was:"
            " assumed to be on disk"
        )
    if plan.demand.early_get_count or plan.demand.overwriting_count:
        yield (
            "  "
            + format_count(
                plan.demand.early_get_count,
                "get comes before the put of its file, and reads what was there; ",
                "gets come before the put of their file, and read what was there; ",
            )
            + format_count(plan.demand.overwriting_count, "put overwrites", "puts overwrite")
            + " a file, which takes room until purged"
        )
    gates = plan.demand.gates
    for column, count in gates.unknown_counts.items():
        requests = format_count(count, "request")
        yield f"  the {column} of {requests} is unknown: limits.{column} does not limit them"
    for place in gates.absent:
        yield escape_controls(f"  {place} concerns no request")
    measured_count = plan.options.get("measured_outage_count")
    if measured_count is not None:
        recorded = format_count(measured_count, "was", "were")
        yield f"  outages as measured: {recorded} recorded in that time (`tapewise outages add`)"
    yield from _describe_ghosts(plan)


def _describe_measured(options: Mapping[str, Any], *, is_changed: bool) -> Iterator[str]:
    count = options.get("measured_origin_count")
    if not count:
        return
    text = (
        f"the log does not say which file {format_count(count, 'get reads', 'gets read')}:"
        f" {'it finds' if count == 1 else 'they find'} it where it was measured or assumed"
    )
    if is_changed:
        yield style_warning(f"{text}, although the disk is another one")
    else:
        yield f"Note: {text}, so the answer holds for no other disk."


def _describe_ghosts(plan: "Plan") -> Iterator[str]:
    if plan.ghosts is None:
        return
    asked, found = plan.ghosts, plan.calibration
    yield (
        f"  {format_count(asked.asked_count, 'file was', 'files were')} there before the log: the time"
        " of each one's last use is drawn"
        f" from the log's own intervals, of which a share of {plan.options['tail']:.3f}"
        " is taken to be longer than the log"
    )
    yield (
        f"    what the first get found is known for {asked.evident_count:,}; no drawn time agrees with it for"
        f" {asked.contrary_count:,}"
    )
    if found is None:
        yield (
            "    that share is not calibrated: this needs the machine that the log was measured on, and a log"
            " that says which gets hit"
        )
        return
    yield (
        f"    calibrated on the first two thirds: {format_count(found.get_count, 'get')}, hit ratio"
        f" {found.simulated_ratio:.3f}, measured {found.measured_ratio:.3f}"
    )
    outside = [check for check in found.checks if not check.is_within]
    yield (
        f"    on the last third, {len(found.checks) - len(outside)} of {len(found.checks)} hit ratios (all,"
        " by day, size and age) are within the 95 % interval of the measured one"
    )
    yield from _list_outside(outside)
    if abs(found.simulated_ratio - found.measured_ratio) > MOST_OFF_RATIO:
        yield style_warning(
            "the machine that the log is said to be measured on gives a hit ratio of"
            f" {found.simulated_ratio:.3f}, but {found.measured_ratio:.3f} was measured: it had another disk"
            " or purge. Correct the file, or name the right machine with --measured-on, before you believe an"
            " answer for another disk"
        )


def _list_outside(outside: Sequence["Check"]) -> Iterator[str]:
    for check in outside:
        yield (
            f"      {check.group}: {check.simulated_ratio:.3f}, measured {check.measured_ratio:.3f}"
            f" ({check.low_ratio:.3f} to {check.high_ratio:.3f}) of {format_count(check.get_count, 'get')}"
        )


def list_runs(connection: psycopg.Connection) -> list[RunSummary]:
    """Return all simulated archives, sorted by name."""
    with connection.cursor(row_factory=class_row(RunSummary)) as cursor:
        return cursor.execute(_SELECT_RUNS + " ORDER BY archive").fetchall()


def get_run(connection: psycopg.Connection, archive: str) -> RunSummary:
    """Return the run of a simulated archive. Raises SimulationError if there is no such archive."""
    with connection.cursor(row_factory=class_row(RunSummary)) as cursor:
        found = cursor.execute(_SELECT_RUNS + " WHERE archive = %s", [archive]).fetchone()
    if found is None:
        raise SimulationError(
            f"no simulated archive is called '{archive}'", hint="`tapewise simulate list` shows them."
        )
    return found


def describe_run(connection: psycopg.Connection, run: RunSummary) -> Iterator[str]:
    """Yield the run line by line: what was run, and where the requests' time went in the steady state."""
    yield from map(style_warning, run.warnings)
    zone = ZoneInfo(run.timezone)
    origin = {"archive": "of archive", "model": "of workload model", "file": "of trace"}[run.demand]
    yield f"Simulated archive '{run.archive}': {escape_controls(run.machine)}, seed {run.seed}"
    yield (
        f"  {format_count(run.job_count, 'request')} {origin} {escape_controls(run.demand_name)}"
        + (f" ({run.demand_kind})" if run.demand_kind else "")
        + f", {_show(run.began_at, zone)} to {_show(run.ended_at, zone)} {run.timezone}"
    )
    yield from _describe_bracket(run.options)
    totals = run.totals
    yield (
        f"  in the whole run, {totals['staged_count']:,} staged from tape, {totals['stored_count']:,} stored"
        f" to tape; {format_count(totals['purge_count'], 'purge')} removed"
        f" {format_count(totals['purged_count'], 'file')}"
    )
    for each in totals.get("disk_pools", []):  # an earlier version had none
        yield _describe_pool(DiskPoolTotals(**each))
    # An earlier version stored none.
    levels = {name: Level(**level) for name, level in totals.get("levels", {}).items()}
    yield from _describe_levels(levels)
    if totals.get("tapes"):
        yield from _describe_tapes(totals["tapes"], levels)
        yield from _describe_placement(totals["tapes"], run)
    if totals.get("failed_try_count"):
        yield (
            f"  {format_count(totals['failed_try_count'], 'try', 'tries')} of transfers failed;"
            f" {format_count(totals['given_up_count'], 'request was', 'requests were')} given up, or"
            f" {'its' if totals['given_up_count'] == 1 else 'their'} file was (in the table, failed tries are"
            " part of transfer)"
        )
    if warm_up := run.options.get("queue_warm_up"):
        yield _describe_warm_up(warm_up, run.began_at, zone)
    if "limit_waits" in levels and levels["limit_waits"].peak:
        yield "  in the table, waits for limits of accounts, clients and classes are part of user"
    for outages in totals.get("outages", []):  # an earlier version had none
        yield _describe_outages(Outages(**outages))
    if run.unfinished_count:  # only from an earlier version, which kept unfinished runs
        yield (
            f"  {run.unfinished_count:,} never ended, so no means are shown: those of the others say nothing"
            " about the machine. Run it again."
        )
    elif run.steady_at is None:
        yield (
            "  The disk was never as full as its low water mark, so this is not an archive in normal use: no"
            " means are shown. Begin with a fuller disk (--fill)."
        )
    else:
        yield from _describe_times(connection, run, zone)
    sample_s = run.options.get("sample_s")
    if sample_s is not None:
        yield (
            f"  mart.simulation_samples has the machine's state every {sample_s:,.0f} s, and means and peaks"
            " of the time between."
        )
    if run.is_circular:
        yield "  Its requests are made up: comparing it with the archive that they come from is circular."


def _describe_pool(pool: DiskPoolTotals) -> str:
    gets = format_count(pool.get_count, "get")
    hits = "no gets" if pool.hit_ratio is None else f"{pool.hit_ratio:.2%} of {gets} hit"
    return (
        f"  pool {pool.name} of {format_size(pool.capacity_bytes)}:"
        f" {format_count(pool.request_count, 'request')}, {hits};"
        f" {format_count(pool.purge_count, 'purge')} removed {format_count(pool.purged_count, 'file')}"
    )


def _describe_bracket(options: Mapping[str, Any]) -> Iterator[str]:
    counts = options.get("missed_bracket")
    if counts:
        tail = options["tail"]
        yield (
            f"  in the whole run, {format_count(counts['own'], 'get misses', 'gets miss')}, if a share of"
            f" {tail:.3f} of the intervals between uses is longer than the log; {counts['least']:,} with"
            f" {min(tail, LEAST_TAIL):.2f}, and {counts['most']:,} with {max(tail, MOST_TAIL):.2f} and none"
            " of those files on disk"
        )
    exchange = options.get("exchange")
    if counts and exchange:
        missed, days = exchange["missed_count"], exchange["transition_s"] / 86_400
        more = max(0, missed - counts["own"])
        in_days = f", nine tenths of them in the first {days:,.1f} days" if more else ""
        yield (
            f"  if this disk had replaced the measured one when the log began, {format_count(missed, 'get')}"
            f" would miss: {more:,} more{in_days}"
        )
    if options.get("evident_count"):
        yield (
            f"  of {format_count(options['evident_count'], 'first get')} of files from before the log,"
            f" {options['agreeing_count']:,} found in this run what was measured"
        )


def _describe_times(connection: psycopg.Connection, run: RunSummary, zone: ZoneInfo) -> Iterator[str]:
    means = ", ".join(f"avg({column})" for column in STORED_TIMES)
    rows = connection.execute(
        "SELECT direction, is_cached, is_joined, count(*),"  # noqa: S608  # our own names
        " avg(extract(EPOCH FROM ended_at - submitted_at))::float8,"
        " percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(EPOCH FROM ended_at - submitted_at)::float8),"
        f" {means} FROM mart.requests JOIN mart.request_waits USING (archive, transfer_id)"
        " WHERE archive = %s AND NOT is_warm_up"
        " GROUP BY direction, is_cached, is_joined"
        " ORDER BY direction DESC, is_cached DESC, is_joined DESC".encode(),
        [run.archive],
    ).fetchall()
    assert run.steady_at is not None
    if run.steady_at > run.began_at:
        yield f"  Steady since {_show(run.steady_at, zone)}; earlier requests are left out."
    yield from _describe_hits(connection, run)
    yield "  Where the time went: mean seconds of a request, by cause"
    heads = ("requests", "total", "95 %", *_CAUSES)
    yield "  " + " " * 14 + "".join(f"{head:>11}" for head in heads)
    for direction, is_cached, is_joined, count, *seconds in rows:
        name = {"put": "put", "get": "get from disk" if is_cached else "get from tape"}[direction]
        if is_joined:
            name = "get, joined"
        yield f"  {name:<14}{count:>11,}" + "".join(f"{value:>11.2f}" for value in seconds)


def _describe_levels(levels: Mapping[str, Level]) -> Iterator[str]:
    """Yield how far the machine was used, and its longest queues."""
    used = {"busy_ports": "ports", "busy_drives": "drives", "busy_robots": "robots", "disk_used": "disk"}
    parts = []
    for name, shown in used.items():
        level = levels.get(name)
        ratio = level.utilisation_ratio if level else None
        if level is not None and level.capacity is not None and ratio is not None:
            most, least = (
                (f"{level.peak:,.0f}", f"{level.capacity:,.0f}")
                if name != "disk_used"
                else (format_size(round(level.peak)), format_size(round(level.capacity)))
            )
            parts.append(f"{shown} {ratio:.1%} (at most {most} of {least})")
    if parts:
        yield f"  in use while requests came: {', '.join(parts)}"
    queues = {name.removesuffix("_waits"): round(level.peak) for name, level in levels.items()
              if name.endswith("_waits") and level.peak}  # fmt: skip
    if queues:
        waits = ", ".join(f"{count:,} for {_QUEUES[name]}" for name, count in queues.items())
        yield f"  most requests that waited at a time: {waits}"


def _describe_outages(outages: Outages) -> str:
    before = format_count(outages.worst_before_count, "unfinished request")
    text = (
        f"  {outages.what} out of service {format_count(outages.outage_count, 'time')},"
        f" {outages.total_s / 3600:,.1f} h in all; the worst began with {before} and"
        f" ended with {outages.worst_after_count:,}"
    )
    if outages.longest_drain_s is None:
        return f"{text}; it was never back to as few as before"
    return f"{text}; back to as few as before after at most {outages.longest_drain_s:,.0f} s"


def _describe_tapes(tapes: Mapping[str, Any], levels: Mapping[str, Level]) -> Iterator[str]:
    """Yield what the drives did in the whole run, where cartridges have an identity."""
    recalls, mounts = tapes["recall_count"], tapes["recall_mount_count"]
    yield (
        f"  {format_count(tapes['mount_count'], 'mount')},"
        f" {format_count(tapes['dismount_count'], 'dismount')},"
        f" {format_count(tapes['mounted_count'], 'cartridge')} still in drives;"
        f" {format_count(recalls, 'recall')} in {mounts:,} of the"
        " mounts" + (f" ({recalls / mounts:.2f} each)" if mounts else "")
    )
    hours = {name: seconds / 3600 for name, seconds in tapes["drive_s"].items()}
    robot_h = hours["fetch"] + hours["return"]
    robot = f"robot and waits for one {robot_h:,.1f}"
    tiers = tapes.get("tier_mounts")
    if tiers:
        robot = f"robots, fetchers and waits for them {robot_h:,.1f}"
        # The database does not keep the order of the machine file.
        names = [LIBRARY, *sorted(tiers.keys() - {LIBRARY})]
        yield f"  mounts by tier: {', '.join(f'{name} {tiers[name]:,}' for name in names)}"
    elif robots := levels.get("busy_robots"):
        moved_h = robots.total_s / 3600
        robot = f"robot {moved_h:,.1f}, wait for a robot {max(0.0, robot_h - moved_h):,.1f}"
    yield (
        f"  drive hours: {robot}, load {hours['load']:,.1f}, locate {hours['locate']:,.1f},"
        f" read {hours['read']:,.1f}, write {hours['write']:,.1f}, rewind {hours['rewind']:,.1f}, unload"
        f" {hours['unload']:,.1f}; idle with a cartridge {hours['mounted']:,.1f}, empty {hours['empty']:,.1f}"
        + (f", out of service {hours['out']:,.1f}" if hours.get("out") else "")
        + (f", repack {hours['repack']:,.1f}" if hours.get("repack") else "")
    )
    for one in tapes.get("technologies", ()):
        yield (
            f"  {one['name']}: {format_count(one['mount_count'], 'mount')},"
            f" {format_count(one['recall_count'], 'recall')}, {one['drive_s'] / 3600:,.1f} drive hours:"
            f" {one['used_ratio'] or 0:.1%} of the time of {format_count(one['drive_count'], 'drive')}"
        )
    if repack := tapes.get("repack"):
        ended_s = repack["ended_s"]
        yield (
            f"  repack: {format_count(repack['volume_count'], 'volume')} onto"
            f" {format_count(repack['blank_count'], 'blank cartridge')};"
            f" {format_size(repack['read_bytes'])} read, {format_size(repack['written_bytes'])} written, "
            + ("not ended" if ended_s is None else f"ended {ended_s / 3600:,.1f} h after the first request")
        )
    if recalls:
        yield (
            f"  a recall waits {tapes['mean_drive_wait_s']:,.1f} s for a drive,"
            f" {tapes['mean_load_wait_s']:,.1f} s for robot and load, {tapes['mean_locate_wait_s']:,.1f} s"
            " for the way to the file (in the table: load)"
        )


def _describe_warm_up(warm_up: Mapping[str, float], began_at: datetime, zone: ZoneInfo) -> str:
    """Describe how long the queues, which are empty when a run begins, took to settle."""
    queues = f"  queues begin empty; a request waits {warm_up['mean_wait_s']:,.2f} s in them on average"
    if "left_out_count" not in warm_up:
        return f"{queues}; the waits do not settle (MSER-5): the load changes, or the queues grow"
    if not warm_up["left_out_count"]:
        return f"{queues}, and no warm-up of theirs is found (MSER-5)"
    settled_at = _show(began_at + timedelta(seconds=warm_up["until_s"]), zone)
    return (
        f"{queues}, and {warm_up['settled_wait_s']:,.2f} s after the first"
        f" {format_count(int(warm_up['left_out_count']), 'request')}, until {settled_at}: their warm-up"
        " (MSER-5), or the load changed"
    )


def _describe_placement(tapes: Mapping[str, Any], run: RunSummary) -> Iterator[str]:
    """Yield what was assumed about which files share a cartridge, and what the other assumption gives."""
    yield f"  Placement assumed: by {run.placement}. No log says which files share a cartridge."
    other = run.options.get("other_placement")
    if other is None:  # an earlier version ran only one
        return
    if "fault" in other:
        yield f"  By {other['placement']}, there is no run: {other['fault']}."
        return
    names = ("mean_drive_wait_s", "mean_load_wait_s", "mean_locate_wait_s")
    own = {
        "placement": run.placement,
        "mount_count": tapes["mount_count"],
        "recall_wait_s": sum(tapes[name] or 0.0 for name in names) if tapes["recall_count"] else None,
    }
    yield "  The truth is likely between: " + "; ".join(
        f"by {each['placement']} {format_count(each['mount_count'], 'mount')}"
        + ("" if each["recall_wait_s"] is None else f", and a recall waits {each['recall_wait_s']:,.1f} s")
        for each in (own, other)
    )


def _describe_hits(connection: psycopg.Connection, run: RunSummary) -> Iterator[str]:
    found = connection.execute(
        "SELECT hit_ratio, cached_count, joined_count, uncached_count - joined_count"
        " FROM mart.cache_hits(archive => %s)",
        [run.archive],
    ).fetchone()
    if found is not None:  # there are gets
        hit_ratio, hit_count, joined_count, miss_count = found
        hits = format_count(hit_count, "get found its file", "gets found their file")
        yield (
            f"  Hit ratio {hit_ratio:.1%}: {hits} on disk, {joined_count:,} joined a stage of another,"
            f" {miss_count:,} started one"
        )


def _show(moment: datetime, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"


_SELECT_RUNS = (
    "SELECT archive, timezone, demand, demand_name, demand_kind, options, machine_title, seed, job_count,"
    " unfinished_count, totals, is_circular, began_at, steady_at, ended_at, simulated_at,"
    " machine #>> '{tapes,cartridges,placement}' AS placement"
    " FROM mart.simulation_runs"
)
