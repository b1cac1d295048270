"""Variants of a machine, runs of them with several seeds, and what is said about their differences."""

import math
import random
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import polars as pl
import pytest
from click.testing import CliRunner

from tapewise.schema.errors import MachineError, SimulationError
from tapewise.simulator.demand.trace_files import complete_trace
from tapewise.simulator.grid_descriptions import describe_results
from tapewise.simulator.grid_statistics import compare, find_place, spread, take
from tapewise.simulator.grids import FIGURES, LOST, Grid, Result, _submit, measure, run_grid
from tapewise.simulator.grids_cli import study
from tapewise.simulator.inputs import Requests
from tapewise.simulator.machines import bundled_machine
from tapewise.simulator.prices import Prices
from tapewise.simulator.runs import run_trace
from tapewise.simulator.variants import Variant, list_variants, parse_change
from tests.unit.simulator.builders import make_library, make_library_machine, make_machine, make_ports
from tests.unit.simulator.builders import make_trace as make_jobs


def vary(machine, *texts: str) -> list[Variant]:
    return list_variants(machine, [parse_change(text) for text in texts])


def test_each_combination_of_values_is_a_machine():
    machine = bundled_machine("llnl-unitree-1998")
    variants = vary(machine, "users.limit_count=10,20", "disk.capacity_bytes=384GB,768GB")
    assert [each.name for each in variants] == [
        "as in the file",
        "users.limit_count=10 disk.capacity_bytes=768GB",
        "users.limit_count=20 disk.capacity_bytes=384GB",
        "users.limit_count=20 disk.capacity_bytes=768GB",
    ]
    assert variants[0].machine == machine
    assert [(each.machine.users.limit_count, each.machine.disk.capacity_bytes) for each in variants[1:]] == [
        (10, 768 * 10**9),
        (20, 384 * 10**9),
        (20, 768 * 10**9),
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("tapes.silos.4.drive_count=6", lambda machine: machine.tapes.silos[4].drive_count == 6),
        ("tapes.chain_bytes_per_s=2MB", lambda machine: machine.tapes.chain_bytes_per_s == 2e6),
        ("tapes.chain_bytes_per_s=2_000_000", lambda machine: machine.tapes.chain_bytes_per_s == 2e6),
        ("ports.queueing=joint", lambda machine: machine.ports.queueing == "joint"),
        ("purge.rank=size * age / uses", lambda machine: str(machine.purge.policy) == "size * age / uses"),
    ],
)
def test_a_value_is_read_as_in_a_machine_file(text, read):
    (_, variant) = vary(bundled_machine("llnl-unitree-1998"), text)
    assert read(variant.machine)


def test_fields_that_belong_to_another_rule_are_no_obstacle():
    machine = bundled_machine("llnl-unitree-1998")
    (_, by_lru) = vary(machine, "purge.rank=lru")
    (_, larger) = vary(by_lru.machine, "disk.capacity_bytes=768GB")
    assert larger.machine.purge == by_lru.machine.purge
    (_, by_size) = vary(machine, "purge.size_exponent=2")
    assert by_size.machine.purge.size_exponent == 2


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["limit=3"], "'limit=3' is not a change of a machine file"),
        (["users.limit_count"], "'users.limit_count' is not a change"),
        (["users.limit_count=1,,2"], "each value must be there, and only once"),
        (["users.limit_count=2,2"], "each value must be there, and only once"),
        (["users.limit_count=1", "users.limit_count=2"], "users.limit_count is changed twice"),
        (["users.limits=1"], "users.limits: the machine has no such field"),
        (["tapes.silos.9.drive_count=1"], "tapes.silos.9.drive_count: the machine has no such field"),
        (
            ["tapes.silos.drive_count=1"],
            "tapes.silos.drive_count: the machine has no such field: did you mean tapes.silos.0.drive_count?",
        ),
        (["failures.ratio=0.1"], "failures.ratio: the machine has no [failures]"),
        (["tapes.repack.drive_ratio=0.1"], "tapes.repack.drive_ratio: the machine has no such field"),
        (["outages.0.lasts_s=60"], "outages.0.lasts_s: the machine has no [[outages]]"),
        (["disk.pools.small.keep_s=60"], "disk.pools.small.keep_s: the machine has no [disk.pools]"),
        (["disk.capacity=1TB"], "no such field: did you mean disk.capacity_bytes?"),
        (["users.limit_count=-1"], "users.limit_count=-1: users.limit_count: must be above 0, not -1"),
        (
            ["users.limit_count=many"],
            "users.limit_count=many: users.limit_count: must be a whole number, not 'many'",
        ),
        (["disk.capacity_bytes=large"], "disk.capacity_bytes: 'large' is not a size"),
        (["disk.lv_bytes=3QB"], "disk.lv_bytes: '3QB' is not a size"),
    ],
)
def test_a_change_that_cannot_be_names_its_field(texts, message):
    with pytest.raises(MachineError) as raised:
        vary(bundled_machine("llnl-unitree-1998"), *texts)
    assert message in str(raised.value)


def test_a_value_that_cannot_be_is_wrong_usage():
    arguments = ["--machine", "lto9-hpss", "--trace", "any", "tapes.drives.count=4"]
    result = CliRunner().invoke(study, arguments)
    assert result.exit_code == 2
    assert "no such field: did you mean tapes.drives.0.count?\n" in result.output
    assert "`tapewise simulate machine NAME` shows a machine file." in result.output


def read_blocked(*_: object) -> set[int]:
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def test_a_process_of_a_study_is_deaf_to_ctrl_c_from_its_beginning():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert signal.SIGINT in _submit(pool, read_blocked).result()
    assert signal.SIGINT not in read_blocked()


def make_requests(seed: int, *, spacing_s: float = 20.0) -> Requests:
    """Bursts of three requests of one user, of sizes that the seed draws."""
    draw = random.Random(seed)
    count = 60
    trace = pl.DataFrame(
        {
            "submitted_s": [spacing_s * (number // 3) for number in range(count)],
            "direction": ["put" if number < 30 else "get" for number in range(count)],
            "user": [1] * count,
            "file": [number % 30 for number in range(count)],
            "size_bytes": [draw.randrange(1, 200) for _ in range(30)] * 2,
        }
    )
    return request(trace)


def request(trace: pl.DataFrame) -> Requests:
    return Requests(*complete_trace(trace), "UTC", "file", "made up")


def run(variants: list[Variant], seeds: range, read=make_requests, job_count: int = 1) -> list[Result]:
    found = run_grid(Grid(variants, seeds, read), job_count=job_count)
    return sorted(found, key=lambda each: (each.seed, each.variant))


def test_formulas_with_commas_are_values_of_a_study():
    machine = bundled_machine("llnl-unitree-1998")
    change = parse_change("purge.rank=max(size, MB) * age,lru,min(age, max(size, 2))")
    assert change.texts == ("max(size, MB) * age", "lru", "min(age, max(size, 2))")
    ranks = [each.machine.purge.policy for each in list_variants(machine, [change])[1:]]
    assert ranks == [*change.texts]


@pytest.mark.study("simulator")
def test_runs_are_the_same_on_one_core_and_on_two():
    variants = vary(make_machine(), "network.in_bytes_per_s=5,100", "users.limit_count=1,2")
    results = run(variants, range(1, 4), job_count=2)
    assert results == run(variants, range(1, 4))
    assert [(each.seed, each.variant) for each in results] == [
        (seed, number) for seed in (1, 2, 3) for number in range(len(variants))
    ]


FULL = pl.DataFrame(
    {"submitted_s": [0.0] * 11, "direction": ["put"] * 11, "user": [1] * 11}
    | {"file": [*range(11)], "size_bytes": [1000] * 11}
)


def read_long_first(seed: int) -> Requests:
    """Make many requests with the first seed, and some that never end with the third."""
    if seed == 1:
        number = pl.int_range(300_000, eager=True)
        return request(
            pl.DataFrame({"submitted_s": number / 2, "direction": "put", "user": 1, "file": number})
            .with_columns(size_bytes=pl.lit(0, pl.Int64))
        )  # fmt: skip
    return request(FULL) if seed == 3 else make_requests(seed)


@pytest.mark.study("simulator")
def test_results_come_as_they_end_and_an_error_loses_none_of_them():
    found = []
    with pytest.raises(SimulationError, match="1 of 11 requests never end"):
        for each in run_grid(Grid(vary(make_machine()), range(1, 5), read_long_first), job_count=2):
            found.append(each.seed)
    # The first seed takes seconds.
    assert found == [2]


RUN_AND_DIE = """
import os, signal
from multiprocessing import active_children
from tapewise.simulator.grids import Grid, run_grid
from tests.unit.simulator.test_grids import make_machine, make_requests, vary
grid = Grid(vary(make_machine()), range(1, 9), make_requests)
for each in run_grid(grid, job_count=2):
    print(*(process.pid for process in active_children()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.study("simulator")
def test_the_processes_of_a_killed_study_end():
    # As long as one of them lives, its output stays open.
    command = [sys.executable, "-c", RUN_AND_DIE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(done.stdout.split()) == 2


def test_hours_of_hand_worked_waits():
    # Three puts of 100 B at once, one after the other over one port and 10 B/s: waits of 0, 10 and 20 s.
    trace = pl.DataFrame(
        {
            "submitted_s": [0.0, 0.0, 0.0],
            "direction": ["put"] * 3,
            "user": [1] * 3,
            "file": [1, 2, 3],
            "size_bytes": [100] * 3,
        }
    )
    given = request(trace)
    one_port = make_machine(ports=make_ports(1))
    first, second = run(vary(one_port, "users.limit_count=1"), range(1, 2), lambda _: given)
    assert first.figures["lost_port_h"] == pytest.approx(30 / 3600)
    assert second.figures["lost_user_h"] == pytest.approx(30 / 3600)
    assert second.figures["lost_port_h"] == 0
    for each in (first, second):
        assert each.figures["lost_h"] == pytest.approx(30 / 3600)
        assert each.figures["lost_h"] == sum(each.figures[f"lost_{cause}_h"] for cause in LOST)
        assert each.figures["put_wait_p50_s"] == pytest.approx(10)
        assert each.figures["put_wait_p99_s"] == pytest.approx(20)
        assert each.figures["get_wait_p50_s"] is None
        assert each.figures["hit_ratio"] is each.figures["miss_count"] is each.figures["mount_count"] is None
        assert {*each.figures} == {*FIGURES}
        assert each.figures["drive_utilisation_ratio"] is each.figures["port_utilisation_ratio"] is None
        assert each.figures["disk_peak_bytes"] == 300


def test_drives_with_cartridges_have_mounts_and_hours():
    trace = pl.DataFrame(
        {
            "submitted_s": [0.0, 100.0],
            "direction": ["get"] * 2,
            "user": [1] * 2,
            "file": [1, 2],
            "size_bytes": [50] * 2,
        }
    )
    given = request(trace)
    (result,) = run([Variant({}, make_library_machine(make_library()))], range(1, 2), lambda _: given)
    # Mounts of 11 s and reading of 10 s, twice; the dismount of 9 s after the second is after the run.
    assert (result.figures["mount_count"], result.figures["miss_count"]) == (2, 2)
    assert result.figures["drive_h"] == pytest.approx((30 + 21) / 3600)
    # In the 100 s until the last request, one of four drives was busy for 30 s; the robot moved for 4 + 4 s.
    assert result.figures["drive_utilisation_ratio"] == pytest.approx(30 / 400)
    assert result.figures["robot_utilisation_ratio"] == pytest.approx(8 / 100)
    assert result.figures["drive_queue_peak_count"] == 0


def test_what_has_a_price_is_counted():
    trace = pl.DataFrame(
        {"submitted_s": [0.0], "direction": ["get"], "user": [1], "file": [1], "size_bytes": [50]}
    )
    prices = {"currency": "EUR", "drive_per_year": 100, "cartridge_per_year": 7, "disk_tb_per_year": 3}
    # 4 drives, the one cartridge with data, and 10 volumes of 1 TB; robots have no price.
    machine = make_library_machine(make_library(), prices=prices)
    (result,) = run([Variant({}, machine)], range(1, 2), lambda _: request(trace))
    assert result.figures["cost_per_year"] == 400 + 7 + 30
    by_robots = machine.model_copy(update={"prices": Prices(currency="EUR", robot_per_year=5)})
    (result,) = run([Variant({}, by_robots)], range(1, 2), lambda _: request(trace))
    assert result.figures["cost_per_year"] == 5
    with pytest.raises(MachineError, match=r"prices\.cartridge_per_year needs tapes\.cartridges"):
        make_machine(prices=prices)


def test_pools_of_the_disk_have_figures_and_columns_of_their_own():
    rows = [(1000.0 * n, "get", 1, n % 6, 100) for n in range(60)]
    trace = make_jobs(*rows).with_columns(class_of_service=pl.col("file") % 2)
    pools = {
        "even": {"classes_of_service": ["0"], "capacity_bytes": 250},
        "none": {"classes_of_service": ["7"], "capacity_bytes": 100},
        "others": {},
    }
    machine = make_library_machine(
        make_library(store={"interval_s": 1, "min_age_s": 0}),
        disk__pools=pools,
        disk__lvs_per_chain=1,
        disk__lv_bytes=1000,
        disk__largest_file_bytes=100,
        purge={"high_ratio": 1, "low_ratio": 0.5, "keep_s": 0, "rank": "lru"},
    )
    variants = vary(machine, "disk.pools.even.capacity_bytes=400B")
    runs = [run_trace(each.machine, trace, seed=1) for each in variants]
    results = [Result(place, 1, measure(each, machine), True) for place, each in enumerate(runs)]
    # A disk of 250 bytes has room for two of the three even files, which are read in turn; the rest has all.
    small, large = (
        {
            name: {key.rpartition(".")[2]: value for key, value in each.figures.items() if f".{name}." in key}
            for name in pools
        }
        for each in results
    )
    assert small["even"] == {
        "capacity_bytes": 250, "get_count": 30, "miss_count": 30, "hit_ratio": 0, "purged_bytes": 2800
    }  # fmt: skip
    assert large["even"]["capacity_bytes"] == 400
    assert (large["even"]["miss_count"], large["even"]["hit_ratio"]) == (3, 0.9)
    assert small["others"] == large["others"] | {"capacity_bytes": 650}
    assert small["others"]["miss_count"] == 3
    assert small["none"]["hit_ratio"] is None
    assert results[0].figures["miss_count"] == 33
    grid = Grid(variants, range(1, 2), make_requests)
    text = "\n".join(describe_results(grid, results, is_trace=False))
    assert "even hit ratio  even misses  " in text
    assert "others hit ratio  others misses" in text
    assert "none misses" in text
    assert "none hit ratio" not in text  # nothing is known of it
    # Kept results have their figures in another order.
    kept = [replace(each, figures=dict(sorted(each.figures.items(), reverse=True))) for each in results]
    assert text == "\n".join(describe_results(grid, kept, is_trace=False))
    plain = run(vary(make_machine(), "users.limit_count=50"), range(1, 2))
    assert not any(name.startswith("pool.") for name in plain[0].figures)


def test_a_machine_on_which_requests_never_end_is_refused():
    given = request(FULL)
    with pytest.raises(SimulationError, match="1 of 11 requests never end"):
        run([Variant({}, make_machine())], range(1, 2), lambda _: given)
    variants = [Variant({}, make_machine(disk__lv_bytes=1100)), Variant({}, make_machine())]
    found = run_grid(Grid(variants, [1], lambda _: given, may_fail={1}), job_count=1)
    assert [each.fault is not None and "1 of 11 requests never end" in each.fault for each in found] == [
        False,
        True,
    ]
    with pytest.raises(SimulationError, match="1 of 11 requests never end"):
        list(run_grid(Grid(variants, [1], lambda _: given, may_fail={0}), job_count=1))


@pytest.mark.parametrize(("count", "place"), [(1, 0), (5, 0), (6, 1), (8, 1), (9, 2), (20, 6), (50, 18)])
def test_the_interval_of_a_median_is_that_of_the_sign_test(count, place):
    assert find_place(count) == place
    # The median of a continuous distribution is between the two with the probability that it is not outside.
    outside = 2 * sum(math.comb(count, number) for number in range(place)) / 2**count
    assert outside <= 0.05
    assert outside + 2 * math.comb(count, place) / 2**count > 0.05 or place == count // 2


def test_intervals_of_skewed_differences_cover_their_median():
    draw = random.Random(5)
    covered, tries = 0, 2000
    for _ in range(tries):
        differences = [draw.lognormvariate(0, 3) - 1 for _ in range(20)]  # the median is 0
        found = compare([0.0] * 20, differences)
        covered += found.low <= 0 <= found.high
    assert covered / tries > 0.94


def test_seeds_are_compared_pair_by_pair():
    found = compare([1, 10, 100, 1000, 10_000, 100_000], [2, 20, 200, 2000, 20_000, 200_000])
    assert found.ratio == pytest.approx(2)
    assert (found.low, found.middle, found.high) == (1, 550, 100_000)
    assert (found.lower_count, found.higher_count, found.is_clear) == (0, 6, True)
    assert compare([0, 1], [1, 0]).ratio is None
    assert compare([1, 1], [1]) is None
    none = compare([1, 2], [2, 1])
    assert (none.low, none.is_clear) == (None, False)
    assert spread([]) is None
    assert spread([1, 2, 3, 4]).middle == 2.5
    assert spread([3.0]).low == 3.0


def test_sentences_say_what_chance_can_do():
    variants = vary(make_machine(), "users.limit_count=50,1")
    grid = Grid(variants, range(1, 7), make_requests)
    results = run(variants, range(1, 7))
    lines = [*describe_results(grid, results, is_trace=False)]
    text = "\n".join(lines)
    assert "seed by seed" in text
    # One after the other, requests of a burst end earlier than all at once.
    better = next(line for line in lines if line.startswith("  users.limit_count=1: "))
    assert "fewer with 6 of 6 seeds, more with 0" in better
    assert "beyond chance" not in better
    middle = compare(take(results, 0, "lost_h"), take(results, 2, "lost_h")).middle
    assert better.startswith(f"  users.limit_count=1: -{-middle:.3g} (interval ")
    same = [*describe_results(grid, [*results[:0], *(_copy(each) for each in results)], is_trace=True)]
    assert any("not a difference beyond chance" in line for line in same)
    assert any("say nothing about other weeks" in line for line in same)
    assert same[-1] == "By the medians, the options do not differ in lost hours, waits (p95) or misses."
    few = [*describe_results(Grid(variants, range(1, 3), make_requests), results[:6], is_trace=False)]
    assert "  (An interval needs 6 seeds or more.)" in few


def test_the_table_has_three_quantiles_of_the_waits():
    variants = [Variant({}, make_machine()), Variant({"users.limit_count": 1}, make_machine())]
    waits = {"get_wait_p50_s": 0.25, "get_wait_p95_s": 60, "get_wait_p99_s": 1234.5}
    # The medians of three seeds: each figure is as it is, or more or less by its half.
    results = [
        Result(place, seed, dict.fromkeys(FIGURES)
               | {name: (1 + place) * value * (0.5 + seed / 2) for name, value in waits.items()}, True)
        for place in range(2) for seed in range(3)
    ]  # fmt: skip
    lines = list(describe_results(Grid(variants, range(3), make_requests), results, is_trace=False))
    start = next(number for number, line in enumerate(lines) if "lost h  (quartiles)" in line)
    assert [line.split("  ")[-1].strip() for line in lines[start : start + 3]] == [
        "get p50 / p95 / p99 s",
        "0.25 / 60 / 1,234",
        "0.5 / 120 / 2,469",
    ]
    assert not any("put p50" in line for line in lines)  # nobody puts


def _copy(result: Result) -> Result:
    """The same run, as if all machines had done as well."""
    return Result(result.variant, result.seed, dict.fromkeys(FIGURES, float(result.seed)), True)
