"""Workload models for generating streams. They cover eight weeks of one interface. Any field can be set."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from tapewise.simulator.demand.models import Bursts, Group, Model, RequestClass, UserShare

# A Monday.
FIRST = datetime(1998, 1, 5, tzinfo=UTC)
WEEKS = 8


def make_class(number: int, request_count: int, **changes: Any) -> RequestClass:
    """Make a class with lognormal sizes around 10 ** (3 + number) bytes.

    Half of its files are known to be on disk, half on tape.
    """
    logs = np.array([-2.3263, -1.6449, -1.2816, -0.6745, 0, 0.6745, 1.2816, 1.6449, 2.3263])
    values = {
        "class_number": number,
        "name": f"class {number}",
        "request_count": request_count,
        "size_bytes": round(request_count * 10 ** (3 + number) * np.exp(0.5)),
        "cached_count": request_count // 2,
        "uncached_count": request_count // 2,
        "size_quantiles_bytes": tuple((10 ** (3 + number) * np.exp(logs)).tolist()),
    }
    return RequestClass(**values | changes)


def make_group(**changes: Any) -> Group:
    """Make a group with 6720 requests in 1344 bursts, all in daytime; one get in nine is set apart."""
    hours = np.arange(168)
    begun = tuple((16 * ((hours % 24 >= 8) & (hours % 24 < 20))).tolist())
    bursts = {
        "burst_count": sum(begun),
        "request_count": 5 * sum(begun),
        "unattributed_count": 0,
        "request_count_quantiles": (1.0, 1.0, 1.0, 2.0, 3.0, 6.0, 9.0, 12.0, 25.0),
        "gap_quantiles_s": (0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 10.0, 30.0, 50.0),
        "same_class_ratio": None,
        "user_shares": (UserShare(1, 0.4), UserShare(2, 0.6), UserShare(5, 0.9), UserShare(10, 1.0)),
        "week_burst_counts": begun,
        "week_request_counts": tuple(5 * count for count in begun),
    } | {
        name: changes.pop(name)
        for name in list(changes)
        if name in Bursts.__dataclass_fields__ and name != "request_count"
    }
    bursts["request_count"] = changes.pop("in_bursts", bursts["request_count"])
    bursts["burst_count"] = sum(bursts["week_burst_counts"])
    values = {
        "interface": "nft",
        "direction": "get",
        "classes": (make_class(1, 3600), make_class(3, 2400)),
        "bursts": Bursts(**bursts),
    } | changes
    return Group(request_count=sum(one.request_count for one in values["classes"]), **values)


def make_model(*groups: Group, **changes: Any) -> Model:
    model = Model(
        name="spring",
        archive="llnl",
        kind="measured",
        timezone="UTC",
        first_ended_at=FIRST,
        last_ended_at=FIRST + timedelta(weeks=WEEKS, microseconds=-1),
        groups=groups or (make_group(),),
    )
    return replace(model, **changes)
