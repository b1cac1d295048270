"""What a plan says of a disk that replaces a smaller one."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from tapewise.simulator import grid_descriptions, grids
from tapewise.simulator.plans import find_transition, has_larger_disk
from tapewise.simulator.results import Result
from tests.unit.simulator.builders import make_machine, make_tapes
from tests.unit.simulator.reuse import GB, make_disk


@pytest.mark.parametrize(
    ("own", "exchanged", "transition_s"),
    [
        # Ten more: the ninth comes at 900 s, and at 1,000 s if the one of 700 s is not additional.
        ([0] * 12, [1] * 9 + [0, 0, 1], 900.0),
        ([0] * 6 + [1] + [0] * 5, [1] * 11 + [0], 1000.0),
        ([0, 1], [1, 0], 0.0),
        ([1, 1], [1, 0], 0.0),
    ],
)
def test_a_transition_lasts_until_nine_tenths_of_the_additional_misses(own, exchanged, transition_s):
    submitted_s = np.arange(1, len(own) + 1) * 100.0
    assert find_transition(submitted_s, np.array(own, bool), np.array(exchanged, bool)) == transition_s


def test_only_a_larger_disk_that_purges_can_replace_one():
    small, large = make_disk(9 * GB), make_disk(10 * GB)
    assert has_larger_disk(large, small)
    assert not has_larger_disk(small, large)
    assert not has_larger_disk(small, small)
    endless = make_machine(tapes=make_tapes(), disk__lv_bytes=10 * GB)
    assert not has_larger_disk(endless, small)
    assert not has_larger_disk(make_disk(200 * GB), endless)


@pytest.mark.parametrize(("missed_count", "figures"), [(3, (0.0, 0.0)), (2, (0.0, 0.0)), (5, (2.0, 9.0))])
def test_a_study_has_no_transition_where_not_more_gets_miss(monkeypatch, missed_count, figures):
    found = {"missed_count": missed_count, "transition_s": 9.0}
    monkeypatch.setattr(grids, "run_exchanged", lambda *_: found)
    jobs = pl.DataFrame({"direction": ["get"] * 4 + ["put"], "is_staged": [True] * 3 + [False] * 2})
    plan, run = SimpleNamespace(exchanged="a disk"), SimpleNamespace(jobs=jobs)
    measured = grids._measure_filling(plan, run)
    assert tuple(measured[name] for name in ("filling_miss_count", "filling_s")) == figures
    assert grids._measure_filling(SimpleNamespace(exchanged=None), run) == {}


def test_a_study_says_for_how_long_a_disk_fills():
    figures = [(2.0, 1.5 * 86_400), (0.0, 0.0)]
    results = [
        Result(number, 1, {"filling_miss_count": count, "filling_s": seconds}, is_warm=True)
        for number, (count, seconds) in enumerate(figures)
    ]
    more, none = grid_descriptions._describe_filling(["one", "other"], results)
    assert more.endswith(", 2 more gets would miss, nine tenths of them in the first 1.5 days")
    assert none.endswith(", 0 more gets would miss")
