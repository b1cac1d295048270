"""Compares Student's t and F distributions in SQL with SciPy's, over a wide grid and at its edges.

SciPy's tails are accurate to 1e-12 here, but some of its extreme quantiles are infinite or off by several per
cent. These quantiles are left out, but the tail at our quantile is always compared. If a square overflows,
SciPy has no tail either, and closed forms take its place.

Run with `-s` to see the largest differences.
"""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import psycopg
import pytest
from scipy import special, stats

pytestmark = pytest.mark.study("sql/statistics")

RELATIVE_TOLERANCE = 1e-9

DEGREES = [0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 9.5, 30.0, 83.0, 164.0, 1e3, 1e4, 1e5, 1e6]
TAILS = [1e-300, 1e-250, 1e-150, 1e-87, 1e-50, 1e-20, 1e-10, 1e-5, 0.001, 0.025, 0.05, 0.2]
PROBABILITIES = [*TAILS, 0.3173, 0.5, 0.6827, 0.9, 0.975, 0.999, 1 - 1e-6, 1 - 1e-10]


def compute(connection: psycopg.Connection, expression: str, *columns: Sequence[float]) -> np.ndarray:
    """Evaluate `expression` of a, b and c for each row of the columns; null becomes NaN."""
    names = "abc"[: len(columns)]
    query = (
        f"SELECT coalesce({expression}, 'nan') FROM unnest({', '.join(['%s::float8[]'] * len(columns))})"
        f" WITH ORDINALITY AS given ({', '.join(names)}, place) ORDER BY place"
    )
    rows = connection.execute(query.encode(), [list(map(float, column)) for column in columns]).fetchall()
    return np.array([value for (value,) in rows])


def assert_close(what: str, found: np.ndarray, expected: np.ndarray, count: int, *given: np.ndarray) -> None:
    """Assert that all values are within the tolerance, and that at least `count` can be compared.

    A value can be compared if SciPy's is finite and not zero.
    """
    is_known = np.isfinite(expected) & (np.abs(expected) >= 1e-300) & (np.abs(expected) < 1e300)
    assert is_known.sum() >= count, f"{what}: only {is_known.sum()} points to compare"
    error = np.abs(found[is_known] / expected[is_known] - 1)
    worst = np.nanargmax(np.where(np.isnan(error), np.inf, error))
    place = [column[is_known][worst] for column in given]
    print(f"\n{what}: {is_known.sum()} points, largest relative difference {error[worst]:.1e} at {place}")
    assert error[worst] <= RELATIVE_TOLERANCE, (
        what,
        place,
        found[is_known][worst],
        expected[is_known][worst],
    )


@pytest.fixture
def grid() -> tuple[np.ndarray, ...]:
    """All combinations of a probability and two degrees of freedom."""
    return tuple(np.array(list(product(PROBABILITIES, DEGREES, DEGREES[::2]))).T)


def test_f_agrees_with_scipy(database: psycopg.Connection, grid: tuple[np.ndarray, ...]) -> None:
    probability, df1, df2 = grid
    found = compute(database, "mart.f_quantile(a, b, c)", probability, df1, df2)
    x = special.betaincinv(df1 / 2, df2 / 2, probability)
    rest = special.betainccinv(df2 / 2, df1 / 2, probability)  # 1 - x, without cancellation
    with np.errstate(all="ignore"):
        expected = df2 / df1 * np.where(x < 0.5, x / (1 - x), (1 - rest) / rest)
        # Leave out quantiles that SciPy's own tail does not confirm.
        expected[np.abs(stats.f.cdf(expected, df1, df2) / probability - 1) > 1e-9] = np.nan
    assert_close("F quantiles", found, expected, 1500, probability, df1, df2)

    # For the upper end, use the quantile of 1/F, because no double is that close to 1.
    with np.errstate(all="ignore"):
        points = 1 / found
    is_number = np.isfinite(points) & (points > 0)
    points, probability, df1, df2 = (column[is_number] for column in (points, probability, df1, df2))
    expected = stats.f.sf(points, df2, df1)
    assert_close("F tails at quantiles", probability, expected, 1250, probability, df2, df1)
    tails = compute(database, "mart.f_tail(a, b, c)", points, df2, df1)
    assert_close("F tails", tails, expected, 1250, points, df2, df1)


def test_student_t_agrees_with_scipy(database: psycopg.Connection) -> None:
    probability, df = np.array(list(product(PROBABILITIES, DEGREES))).T
    found = compute(database, "mart.student_t_quantile(a, b)", probability, df)
    expected = stats.t.ppf(probability, df)
    # As above, and also leave out quantiles that should be zero.
    with np.errstate(all="ignore"):
        expected[np.abs(stats.t.cdf(expected, df) / probability - 1) > 1e-9] = np.nan
    expected[probability == 0.5] = np.nan
    assert_close("t quantiles", found, expected, 200, probability, df)
    assert (found[probability == 0.5] == 0).all()

    expected = 2 * stats.t.sf(np.abs(found), df)
    expected[(df < 2) & (probability < 1e-100)] = np.nan  # the square overflows; see the closed forms
    tails = compute(database, "mart.student_t_tail(a, b)", found, df)
    assert_close("t tails", tails, expected, 200, found, df)
    assert (compute(database, "mart.student_t_tail(a, b)", -found, df) == tails).all()


def test_one_and_two_degrees_of_freedom_have_closed_forms(database: psycopg.Connection) -> None:
    t = np.array([1e-9, 0.5, 1, 12.7, 1e9, 1e100, 1e149])
    root = np.hypot(math.sqrt(2), t)
    for df, tail in ((1, 2 / math.pi * np.arctan(1 / t)), (2, 2 / root / (root + t))):
        found = compute(database, f"mart.student_t_tail(a, {df})", t)
        assert_close(f"t tails, {df} degrees", found, tail, t.size, t)
        found = compute(database, f"-mart.student_t_quantile(a, {df})", tail[1:] / 2)
        assert_close(f"t quantiles, {df} degrees", found, t[1:], t.size - 1, tail[1:])
    # The squares of these values are too large for a double.
    t = np.array([1e155, 1e200, 6e299])
    assert_close("t tails, Cauchy", compute(database, "mart.student_t_tail(a, 1)", t), 2 / math.pi / t, 3, t)
    found = compute(database, "-mart.student_t_quantile(a, 1)", 1 / math.pi / t)
    assert_close("t quantiles, Cauchy", found, t, 3, t)


def test_two_degrees_of_freedom_above_have_a_closed_form(database: psycopg.Connection) -> None:
    """The tail of F is (1 + 2 f / df) ^ (-df / 2), for very few and for very many degrees of freedom."""
    tail, df = np.array(list(product(TAILS, [0.1, 1, 7, 164, 1e6, 1e8, 1e10]))).T
    exponent = -2 / df * np.log(tail)
    tail, df, exponent = (column[exponent < 680] for column in (tail, df, exponent))
    f = df / 2 * np.expm1(exponent)
    assert_close("F tails, closed", compute(database, "mart.f_tail(a, 2, b)", f, df), tail, 70, f, df)
    found = compute(database, "1 / mart.f_quantile(a, b, 2)", tail, df)
    assert_close("F quantiles, closed", found, f, 70, tail, df)


def test_many_degrees_of_freedom_are_nearly_normal(database: psycopg.Connection) -> None:
    """Compare with the first terms of t's expansion in 1 / df; later terms are below 1e-12 here."""
    tail, df = np.array(list(product([0.4, 0.1, 0.025, 1e-4], [1e5, 1e6, 1e8, 1e10]))).T
    z = stats.norm.isf(tail)
    expected = z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
    found = compute(database, "-mart.student_t_quantile(a, b)", tail, df)
    assert_close("t quantiles, nearly normal", found, expected, tail.size, tail, df)


EDGES = {
    "student_t_quantile(0, 5)": -math.inf,
    "student_t_quantile(1, 5)": math.inf,
    "student_t_quantile(0.5, 5)": 0,
    "student_t_quantile(1e-300, 0.5)": -math.inf,  # beyond the range of a double
    "student_t_tail(0, 5)": 1,
    "student_t_tail(1e-300, 1)": 1,
    "student_t_tail('infinity', 5)": 0,
    "student_t_tail('-infinity', 5)": 0,
    "student_t_tail(1e300, 1e6)": 0,
    "f_quantile(0, 5, 3)": 0,
    "f_quantile(1, 5, 3)": math.inf,
    "f_quantile(1e-300, 1, 1)": 0,  # below the range of a double
    "f_quantile(1 - 1e-16, 1, 0.1)": math.inf,
    "f_tail(0, 5, 3)": 1,
    "f_tail('infinity', 5, 3)": 0,
    "f_tail(1e300, 5, 1e6)": 0,
    "f_tail(1e300, 2, 3)": 0,  # 1e-450, below the range of a double
    "f_tail(1, 7, 7)": 0.5,
}

# Invalid arguments give null, never an error.
NULLS = [
    *(f"f_tail({f}, 5, 3)" for f in ("-1", "'nan'", "NULL")),
    *(f"student_t_tail({t}, 5)" for t in ("'nan'", "NULL")),
    *(
        call.format(p)
        for call in ("student_t_quantile({}, 5)", "f_quantile({}, 5, 3)")
        for p in ("-1e-300", "1.0000001", "'nan'", "'infinity'", "'-infinity'", "NULL")
    ),
    *(
        call.format(df)
        for call in (
            "f_tail(2, {}, 3)",
            "f_tail(2, 3, {})",
            "f_tail(0, {}, 3)",
            "f_tail('infinity', 3, {})",
            "f_quantile(0.5, {}, 3)",
            "f_quantile(0.5, 3, {})",
            "f_quantile(0, 3, {})",
            "student_t_tail(1, {})",
            "student_t_quantile(0.9, {})",
            "student_t_quantile(0, {})",
            "log_f_area(1, {}, 3)",
            "log_f_area(1, 3, {})",
        )
        for df in ("0", "-1", "0.09", "1.1e10", "'infinity'", "'nan'", "NULL")
    ),
    "log_f_tail('nan', 5, 3)",
    "log_f_quantile(0.5, 'nan', 5, 3)",
    "log_f_quantile(NULL, 0.5, 5, 3)",
    "log_f_quantile(-0.1, 0.5, 5, 3)",
    "log_f_quantile(0.5, 1.5, 5, 3)",
    *(f"log_f_area({log_f}, 5, 3)" for log_f in ("-1e-9", "'infinity'", "'nan'")),
]


def test_values_at_the_edges(database: psycopg.Connection) -> None:
    found = {call: database.execute(f"SELECT mart.{call}".encode()).fetchone() for call in EDGES}
    assert found == {call: (pytest.approx(expected, rel=1e-12),) for call, expected in EDGES.items()}


def test_invalid_arguments_give_null(database: psycopg.Connection) -> None:
    for call in NULLS:
        row = database.execute(f"SELECT t.* FROM mart.{call} AS t".encode()).fetchone()
        assert row is not None
        assert set(row) == {None}, call
