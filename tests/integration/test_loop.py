"""The whole loop on the example: its requests are simulated, and only the expected comparisons turn red."""

from collections.abc import Iterator
from typing import Any

import pytest

from tapewise.clustering.archives import find_archive
from tapewise.clustering.fits import FitRequest, fit_model
from tapewise.clustering.storage import save_model
from tapewise.schema.database import Role, Warehouse
from tapewise.simulator.comparisons import Comparison, read_comparison
from tapewise.simulator.inputs import Requests, read_archive_requests, read_model_requests
from tapewise.simulator.machines import Machine, bundled_machine
from tapewise.simulator.plans import keep_run, plan_run
from tests.conftest import NOW, Site
from tests.integration.example_archive import load_example

pytestmark = [
    pytest.mark.slow,
    pytest.mark.study("simulator", "clustering", "sql/simulation", "sql/workload"),
]

MACHINE = bundled_machine("llnl-unitree-1998")
# LLNL's distribution of stage times (appendix A, 6.0), whose draws depend on the seed.
LAW = {
    "law": "two_exponentials", "short_ratio": 0.224, "short_s": 60.0, "short_mean_s": 21.0,
    "long_s": 120.0, "long_mean_s": 30.0,
}  # fmt: skip


def with_load(**load: object) -> Machine:
    values = MACHINE.model_dump()
    values["tapes"]["load"] = load
    return Machine.model_validate(values)


def name_differences(comparison: Comparison) -> set[tuple[str, str]]:
    return {(each.direction, each.quantity) for each in comparison.different}


@pytest.fixture(scope="module")
def example(site: Site) -> Iterator[Warehouse]:
    """Load the example, and simulate its requests on LLNL's machine as the archive `built`."""
    with site.clone() as warehouse:
        load_example(warehouse)
        simulate(warehouse, "built", read_example_requests(warehouse))
        yield warehouse


def simulate(
    warehouse: Warehouse, name: str, given: Requests, machine: Machine = MACHINE, **plan: Any
) -> None:
    keep_run(warehouse, name, plan_run(given, machine, **{"seed": 1} | plan), now=NOW)


def read_example_requests(warehouse: Warehouse) -> Requests:
    with warehouse.connect(Role.READER) as reader:
        return read_archive_requests(reader, "example")


def compare(warehouse: Warehouse, a: str, b: str) -> Comparison:
    with warehouse.connect(Role.READER, autocommit=True) as reader:
        return read_comparison(reader, a, b)


def test_doubling_the_stage_delay_turns_the_stages_red_and_nothing_else(example: Warehouse) -> None:
    simulate(example, "slower", read_example_requests(example), with_load(law="fixed", load_s=120.0))
    comparison = compare(example, "built", "slower")
    found = {(each.direction, each.quantity, each.statistic) for each in comparison.different}
    assert {("get", "stage time", statistic) for statistic in ("mean", "p50", "p90")} <= found
    assert ("get", "total time", "mean") in found
    assert not [each for each in found if each[0] == "put"]
    (shift,) = [
        each for each in comparison.figures if (each.quantity, each.statistic) == ("stage time", "p50")
    ]
    assert shift.difference_low is not None
    assert shift.difference_low <= 60.1
    assert shift.difference_high >= 59.9


def test_removing_the_bursts_turns_the_waits_red(example: Warehouse) -> None:
    simulate(example, "even", read_example_requests(example), arrivals="even")
    found = compare(example, "built", "even")
    red = name_differences(found)
    assert {("all", "contention"), ("put", "contention"), ("all", "transfer time")} <= red
    # The requests, bytes and transfers are the same; only the arrival times differ, and with them how uneven
    # the requests are and at which hours they come.
    assert not {"bytes", "transfer alone", "found on disk", "size", "users"} & {
        quantity for _, quantity in red
    }
    assert {each.statistic for each in found.different if each.quantity == "requests"} == {"dispersion"}


def test_another_seed_turns_nothing_red_and_the_model_only_what_it_does_not_imitate(
    example: Warehouse,
) -> None:
    """Only chance makes a difference: tape loads drawn with another seed, or bursts drawn from the model.

    The model knows no files, and draws as many bursts of fewer users.
    """
    given = read_example_requests(example)
    simulate(example, "drawn", given, with_load(**LAW))
    simulate(example, "again", given, with_load(**LAW), seed=2)
    assert not compare(example, "drawn", "again").different
    with example.connect(Role.READER, autocommit=True) as reader:
        model = fit_model(reader, find_archive(reader, "example"), FitRequest("october", "example"), now=NOW)
    with example.connect(Role.LOADER, autocommit=True) as loader:
        save_model(loader, model)
        stream = read_model_requests(loader, "october", seed=1)
    simulate(example, "modelled", stream, with_load(**LAW))
    red = name_differences(compare(example, "drawn", "modelled"))
    assert red == {("all", "file used the day before"), ("all", "users")}


def test_comparisons_with_the_synthetic_example_are_circular(example: Warehouse) -> None:
    simulate(example, "other", read_example_requests(example), seed=2)
    assert compare(example, "example", "built").is_circular
    assert compare(example, "built", "other").is_circular  # both come from made-up logs
