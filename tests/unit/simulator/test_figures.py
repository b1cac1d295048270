"""LLNL's figure 4-1: its direction is that of the published one, and the table shows what is missed."""

import re

import pytest

from tapewise.simulator.demand.fortnights import (
    READ_BYTES,
    READS,
    STAGED_RATIO,
    WRITE_BYTES,
    WRITES,
    make_fortnight,
)
from tapewise.simulator.figures import PUBLISHED, describe_figure, make_grid
from tapewise.simulator.grids import run_grid


def test_a_fortnight_has_the_counts_of_the_source():
    trace = make_fortnight(1)
    assert trace.equals(make_fortnight(1))
    counts = dict(trace["origin"].value_counts().iter_rows())
    assert counts["put"] == WRITES
    assert counts["tape"] + counts["disk"] == READS
    assert counts["tape"] / READS == pytest.approx(STAGED_RATIO, abs=0.03)
    # A fortnight's mean varies, because a few batches have most of the bytes.
    traces = [make_fortnight(seed) for seed in range(30)]
    for direction, mean_bytes in (("get", READ_BYTES), ("put", WRITE_BYTES)):
        means = [float(one.filter(direction=direction)["size_bytes"].mean()) for one in traces]
        assert sum(means) / len(means) == pytest.approx(mean_bytes, rel=0.35)


@pytest.mark.study("simulator")
def test_user_hours_fall_and_port_hours_rise():
    grid = make_grid(6)
    text = "\n".join(describe_figure(grid, list(run_grid(grid, job_count=1))))
    for (limit, queue), published in PUBLISHED.items():
        line = rf"^  {limit} +{queue} +{published} +([0-9.]+) +\(.*\) +([0-9.]+)$"
        found = re.search(line, text, re.MULTILINE)
        assert found is not None
        assert float(found[1]) / published == pytest.approx(float(found[2]), abs=0.006)
    assert re.search(r"user hours: -.*, lower with 6 of 6, higher with 0; published -50", text)
    assert re.search(r"port hours: \+.*, lower with 0 of 6, higher with 6; published \+30", text)
    assert "  both: -" in text
    assert "the same with 13 and 20 for every seed" in text
