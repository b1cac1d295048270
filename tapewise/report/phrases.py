"""Numbers as the sentences of findings say them."""


def say_share(ratio: float) -> str:
    """A share between 0 and 1 as a percentage, which is never rounded to nothing or to everything."""
    if 0 < ratio < 0.01:
        return "under 1 %"
    if 0.99 < ratio < 1:
        return "over 99 %"
    return f"{100 * ratio:.0f} %"


def say_times(ratio: float) -> str:
    """How many times as much: `3.4 times`."""
    return f"{ratio:.1f} times" if ratio < 9.95 else f"{ratio:,.0f} times"


def say_time(time_s: float) -> str:
    """A time in the unit in which people would say it: `45 s`, `9 min`, `3.5 h`, `12 days`."""
    for unit_s, unit, below_s in ((1, "s", 120), (60, "min", 7_200), (3_600, "h", 172_800)):
        if time_s < below_s:
            return f"{_round(time_s / unit_s)} {unit}"
    return f"{_round(time_s / 86_400)} days"


def _round(value: float) -> str:
    """Round to two digits, or to as many as are before the point."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if value >= 9.95 else f"{float(f'{value:.2g}'):g}"
