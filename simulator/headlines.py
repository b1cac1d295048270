"""The headline of a comparison: by how much one mean differs, and how far that is service or mix."""

from collections.abc import Iterator

from tapewise.simulator.comparisons import Comparison, Mix

_SUBJECTS = {
    "total time": "the mean time from a request to its end",
    "transfer time": "the mean time of a transfer",
}


def find_headline(comparison: Comparison) -> Mix | None:
    """Return what the headline is about; None if neither time is known on both sides.

    This is the time of all requests from when they were made to their end, if it is known for at least half
    of the transfers on both sides, and otherwise the time of the transfers.
    """
    found = {each.quantity: each for each in comparison.mixes if each.direction == "all"}
    total, transfer = found.get("total time"), found.get("transfer time")
    if total is not None and _is_comparable(total) and (transfer is None or _is_most_of(total, transfer)):
        return total
    return transfer if transfer is not None and _is_comparable(transfer) else None


def describe_headline(comparison: Comparison, names: tuple[str, str]) -> Iterator[str]:
    """Yield the headline and what explains it, line by line; nothing if there is no headline."""
    mix = find_headline(comparison)
    if mix is None or mix.difference is None or mix.a_value is None or mix.b_value is None:
        return
    subject = _SUBJECTS[mix.quantity]
    moved = "rose from" if mix.difference > 0 else "fell from" if mix.difference < 0 else "was"
    a, b = names
    yield (
        f"{subject[0].upper()}{subject[1:]} {moved} {_seconds(mix.a_value)} ({a})"
        f" {'to' if mix.difference else 'and'} {_seconds(mix.b_value)} ({b}):"
        f" {_describe_part(mix.difference, mix.difference_low, mix.difference_high)}."
    )
    if mix.service_difference is not None and mix.mix_difference is not None:
        service = _describe_part(
            mix.service_difference, mix.service_difference_low, mix.service_difference_high
        )
        others = _describe_part(mix.mix_difference, mix.mix_difference_low, mix.mix_difference_high)
        yield f"  service: {service}, with the same mix of directions, classes of service and sizes"
        yield f"  mix:     {others}, because other kinds of requests were made"
    load = next(
        (
            each
            for each in comparison.figures
            if (each.direction, each.quantity, each.statistic) == ("all", "requests", "per day")
        ),
        None,
    )
    if load is not None and load.difference is not None:
        yield (
            f"  load:    {load.a_value:.4g} requests a day ({a}), {load.b_value:.4g} ({b}):"
            f" {load.difference:+.4g}"
            f"{_describe_interval(load.difference, load.difference_low, load.difference_high, '')}"
        )
        if load.difference > 0:
            yield "           More requests at a time slow each other down, which counts as service."
    for name, other, ratio in ((a, b, mix.a_common_ratio), (b, a, mix.b_common_ratio)):
        if ratio is not None and ratio < 0.9:
            yield f"  Only {ratio:.0%} of the requests of {name} are of a kind that {other} has, too."


def _is_comparable(mix: Mix) -> bool:
    return mix.a_count > 0 and mix.b_count > 0


def _is_most_of(mix: Mix, whole: Mix) -> bool:
    return 2 * mix.a_count >= whole.a_count and 2 * mix.b_count >= whole.b_count


def _seconds(value: float) -> str:
    return f"{value:.4g} s"


def _describe_part(value: float, low: float | None, high: float | None) -> str:
    return f"{value:+.4g} s{_describe_interval(value, low, high, ' s')}"


def _describe_interval(value: float, low: float | None, high: float | None, unit: str) -> str:
    """The interval, and whether it leaves chance as an explanation."""
    if low is None or high is None:
        return " (a single day says nothing about chance)"
    is_chance = low <= 0 <= high and (low < high or value == 0)
    verdict = "within chance" if is_chance else "more than chance"
    return f" (95 % interval {low:+.4g} to {high:+.4g}{unit}; {verdict})"
