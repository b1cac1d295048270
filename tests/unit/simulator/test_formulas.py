"""Formulas for the weight of a file give what Python gives, and none that might not be finite is accepted."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.simulator.formulas import UNITS, VARIABLES, parse_formula
from tapewise.simulator.machines import Machine
from tapewise.simulator.policies import FORMULAS, RANKS
from tapewise.simulator.weights import weigh_files
from tests.unit.simulator.builders import make_machine, make_tapes

SIZES = [0, 1, 999_999, 1_000_000, 1_000_001, 1 << 53]
AGES = [0.0, 0.5, 3600.0, 3600.000001, 1e9, 1e300]
USES = [1, 2, 3, 10, 10**6, 10**15]

# Pairs of a formula and of what Python is asked, which has another way to raise to a power.
leaves = st.sampled_from([*VARIABLES, *UNITS, "0", "1", "2.5", "1e3"]).map(lambda text: (text, text))
formulas = st.recursive(
    leaves,
    lambda part: (
        st.tuples(part, st.sampled_from("+-*/"), part).map(
            lambda found: tuple(
                f"({one} {found[1]} {two})" for one, two in zip(found[0], found[2], strict=True)
            )
        )
        | st.tuples(part, st.integers(-6, 6)).map(
            lambda found: (f"({found[0][0]}) ^ {found[1] / 2}", f"raise_to({found[0][1]}, {found[1]})")
        )
        | st.tuples(part, st.sampled_from(["ceil", "floor", "sqrt", "-"])).map(
            lambda found: tuple(f"{found[1]}({one})" for one in found[0])
        )
        | st.tuples(part, part, st.sampled_from(["min", "max"])).map(
            lambda found: tuple(f"{found[2]}({one}, {two})" for one, two in zip(*found[:2], strict=True))
        )
    ),
    max_leaves=8,
)


def raise_to(base: float, halves: int) -> float:
    result = math.prod([base] * (abs(halves) // 2), start=1.0)
    result *= math.sqrt(base) if halves % 2 else 1
    return 1 / result if halves < 0 else result


def make_purging(**changes: object) -> Machine:
    return make_machine(
        tapes=make_tapes(), purge={"high_ratio": 0.8, "low_ratio": 0.7, "keep_s": 0, **changes}
    )


@given(formulas)
def test_a_formula_that_is_accepted_gives_what_python_gives(texts: tuple[str, str]) -> None:
    sizes, ages, uses = np.repeat(SIZES, 6), np.tile(AGES, 6), np.roll(np.tile(USES, 6), 7)
    try:
        weights = weigh_files(f"({texts[0]})", sizes, ages, uses)
    except ValueError as error:
        assert "might not be finite" in str(error) or "at most 300" in str(error)
        return
    names = {"ceil": math.ceil, "floor": math.floor, "sqrt": math.sqrt, "min": min, "max": max}
    names |= {"raise_to": raise_to, "__builtins__": {}, **UNITS}
    for weight, size, age, count in zip(weights, sizes, ages, uses, strict=True):
        values = {"size": float(size), "age": min(age, 1e12), "uses": float(min(count, 10**12))}
        assert math.isfinite(weight)
        assert weight == eval(texts[1], names | values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lur", "'lur' is not one of lru, fifo, size_age, gdsf, and"),
        ("size * weight", "'weight' cannot be in a formula, only size, age, uses"),
        ("size * worth", "'worth' cannot be"),
        ("__import__('os')", "is not a formula"),
        ("size.real", "'size.real' cannot be"),
        ("exp(size)", "cannot be"),
        ("size if age else 1", "cannot be"),
        ("size < age", "is not a formula"),
        ("size age", "is not a formula, such as"),
        ("", "is not a formula, such as"),
        ("(" * 150 + "1" + ")" * 150, "at most 300"),
        ("min(size)", "min takes two values"),
        ("ceil(size, age)", "ceil takes one value"),
        ("size ^ 0.3", "steps of a half"),
        ("size ^ age", "steps of a half"),
        ("size ^ 16.5", "steps of a half"),
        ("1 / age", "might not be finite: a divisor may be 0"),
        ("1 / (size - age)", "might not be finite: a divisor may be 0"),
        ("age ^ -0.5", "might not be finite: 0 to a power below 0"),
        ("sqrt(age - size)", "might not be finite: sqrt of a value that may be below 0"),
        ("(age - size) ^ 1.5", "might not be finite: a root"),
        ("size ^ 16 * size ^ 16", "might not be finite: a value may be too large"),
        ("1e999", "too large"),
        ("belady", "belady knows the future"),
        ("arc", "arc keeps files in queues and gives them no weight"),
    ],
)
def test_a_machine_names_what_is_wrong_with_its_rank(text: str, message: str) -> None:
    with pytest.raises(Exception, match=r"^small: purge\.rank: ") as raised:
        make_purging(rank=text)
    assert message in str(raised.value)


def test_powers_and_precedence_worked_by_hand() -> None:
    def weigh(text: str) -> float:
        return float(weigh_files(text, np.array([4]), np.array([9.0]), np.array([3]))[0])

    assert weigh("size - age - uses") == -8
    assert weigh("age ^ 1.5 / uses") == 9
    assert weigh("-size ^ 0.5") == -2
    assert weigh("max(size, age, uses) * min(1, 2, size)") == 9
    assert weigh("max(age, 1) ^ -1.5") == 1 / 27
    assert weigh("(size - age) ^ 3") == -125
    assert weigh("2 * size * hour / minute") == 480
    # A file that is on disk was used at least once.
    assert weigh_files("age / uses", np.array([4]), np.array([9.0]), np.array([0])).tolist() == [9]


def test_the_stack_has_room_for_what_a_formula_keeps() -> None:
    for text, depth in (
        ("size - age - uses", 2),
        ("size - (age - (uses - 1))", 4),
        ("max(1, 2, -(3 * 4))", 3),
    ):
        assert parse_formula(text).stack.size == depth


def test_each_rank_weighs_what_its_name_says() -> None:
    sizes, ages = np.array([2_500_000, 1]), np.array([3 * 3600.0, 3601.0])
    assert (
        weigh_files("lru", sizes, ages).tolist() == weigh_files("fifo", sizes, ages).tolist() == ages.tolist()
    )
    assert weigh_files("size_age", sizes, ages).tolist() == [3 * (3 * math.sqrt(3)), 2 * math.sqrt(2)]
    assert weigh_files("gdsf", sizes, ages, np.array([5, 2])).tolist() == [-5 / 2_500_000, -2]
    assert set(RANKS) == {*FORMULAS} - {"belady"}


def test_the_exponents_of_llnls_weight_can_be_changed() -> None:
    assert (
        make_purging().purge.policy
        == make_purging(rank="size_age", size_exponent=1).purge.policy
        == "size_age"
    )
    policy = make_purging(rank="size_age", size_exponent=0.5, age_exponent=2).purge.policy
    assert weigh_files(policy, np.array([9_000_000]), np.array([7200.0])).tolist() == [12]
    for change, field in (
        ({"size_exponent": 0.3}, "purge.size_exponent"),
        ({"age_exponent": -1}, "purge.age_exponent"),
        ({"rank": "lru", "age_exponent": 1}, "purge"),
        ({"size_exponent": 16, "age_exponent": 16}, "purge"),
    ):
        with pytest.raises(Exception, match=f"^small: {field}: "):
            make_purging(**change)


def test_the_order_of_llnls_weight_is_that_of_whole_arithmetic() -> None:
    dice = random.Random(1)
    sizes = np.array([dice.randrange(1, 10**10) for _ in range(500)])
    ages = np.array([float(dice.randrange(1, 10**8)) for _ in range(500)])
    weights = weigh_files("size_age", sizes, ages)
    squares = [
        (-(-int(size) // 10**6)) ** 2 * (-(-int(age) // 3600)) ** 3
        for size, age in zip(sizes, ages, strict=True)
    ]
    assert np.argsort(weights, kind="stable").tolist() == sorted(range(500), key=squares.__getitem__)
