"""Describes a workload model, for the terminal."""

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from tapewise.clustering.documents import QUANTILE_LEVELS, Bursts, WorkloadGroup, WorkloadModel
from tapewise.clustering.names import format_bytes, format_seconds
from tapewise.schema.texts import say_count

MEASURES = {"service": "service time", "open": "open time"}
_MIDDLE, _HIGH = QUANTILE_LEVELS.index(0.5), QUANTILE_LEVELS.index(0.95)


def describe_model(model: WorkloadModel) -> Iterator[str]:
    """Yield the model line by line: its origin, then each interface and direction with its classes."""
    zone = ZoneInfo(model.timezone)
    first, last = model.first_ended_at.astimezone(zone), model.last_ended_at.astimezone(zone)
    yield f"Workload model '{model.name}' of {model.archive} ({model.kind}, {model.timezone})"
    yield (
        f"  size and {MEASURES[model.measure]} of requests that ended from {first:%Y-%m-%d} to"
        f" {last:%Y-%m-%d}; seed {model.seed}"
    )
    for group in model.groups:
        yield ""
        yield from _describe_group(group)


def _describe_group(group: WorkloadGroup) -> Iterator[str]:
    apart = ", ".join(f"{count:,} {reason}" for reason, count in sorted(group.set_apart.items()))
    yield (
        f"{group.interface} {group.direction}: {say_count(group.request_count, 'requests')} in"
        f" {say_count(len(group.classes), 'classes')}" + (f"; set apart: {apart}" if apart else "")
    )
    width = max((len(each.name) for each in group.classes), default=0)
    for each in group.classes:
        yield (
            f"  {each.class_number:>2}  {each.name:<{width}}  {each.request_ratio:6.1%} of requests"
            f"  {each.size_ratio:6.1%} of bytes   {format_bytes(each.centroid_size_bytes)}"
            f" in {format_seconds(each.centroid_time_s)}"
        )
    tried = [f"{count}: {value:.3f}" for count, value in group.criterion_values.items() if value is not None]
    if tried:
        yield f"  silhouette by number of classes  {', '.join(tried)}"
    yield from _describe_bursts(group.bursts)


def _describe_bursts(bursts: Bursts) -> Iterator[str]:
    if bursts.burst_count:
        sizes, gaps = bursts.request_count_quantiles, bursts.gap_quantiles_s
        yield (
            f"  bursts: {bursts.burst_count:,} of {say_count(bursts.user_count, 'users')}; requests in one:"
            f" median {sizes[_MIDDLE]:g}, 95 % {sizes[_HIGH]:g}"
            + (f"; gap: median {format_seconds(gaps[_MIDDLE])}" if gaps else "")
            + f"; the busiest user makes {bursts.user_shares[0].running_ratio:.0%} of the requests"
        )
    if bursts.unattributed_count:
        yield f"  of unknown users, and so in no burst: {say_count(bursts.unattributed_count, 'requests')}"
