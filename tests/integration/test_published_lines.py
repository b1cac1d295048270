"""LLNL's printed regressions, tables 4.1 to 4.3 of appendix A, figure by figure.

From the printed coefficients, standard errors, n and sums of squares, mart.line_statistics must give every
other printed digit. If the table itself is wrong, or our copy of it is damaged, a comment next to the figure
says so; no tolerance is widened.

In the paper's columns, the last digit of a long number slips into the next line ("0.95370371" and "4"). Table
4.2 lacks the lines for adjusted R squared, standard error and observations, so n is taken as residual df + 2.
"""

from dataclasses import dataclass
from decimal import Decimal

import psycopg
import pytest
from psycopg.rows import dict_row


@dataclass(frozen=True)
class Table:
    """`given` has the arguments of mart.line_statistics, `printed` the rest of the table.

    `summary` is the row of table 4.3: the latency, and the rate in MB/s, each with its 95 % interval.
    """

    given: dict[str, str]
    slope: str
    printed: dict[str, str]
    summary: dict[str, str]


# The slope is printed with six digits, but the rate (1 / slope) with ten. The slope is therefore derived from
# the rate, and must agree with the printed slope.
WRITES = Table(
    given={
        "point_count": "166",
        "latency_s": "0.756034485",
        "latency_se_s": "0.058893727",
        "slope_s_per_byte": "1 / 4.664662080e6",
        "slope_se_s_per_byte": "5.27894E-09",
        "regression_squares_s2": "772.36085",
        "residual_squares_s2": "76.80653322",
    },
    slope="2.14378E-07",
    printed={
        "r": "0.953703714",
        "r_squared": "0.909550773",
        "adjusted_r_squared": "0.908999254",
        "residual_se_s": "0.684348244",
        "regression_df": "1",
        "residual_df": "164",
        "total_df": "165",
        "total_squares_s2": "849.1673832",
        "regression_mean_square_s2": "772.3609",
        "residual_mean_square_s2": "0.468333",
        "f": "1649.172",
        "f_p": "1.73533E-87",
        "latency_t": "12.83727",
        "latency_p": "1.48E-26",
        # The table prints 0.639746718 and 0.8723223; see test_the_printed_ends_of_the_latency.
        "latency_low_s": "0.639746785",
        "latency_high_s": "0.8723222",
        "slope_t": "40.61",
        "slope_p": "1.74E-87",
        "slope_low_s_per_byte": "2.03954E-07",
        "slope_high_s_per_byte": "2.248E-07",
        "rate_bytes_per_s": "4664662.080",
    },
    summary={
        "latency_s": "0.76",
        "latency_low_s": "0.64",
        "latency_high_s": "0.87",
        "rate_bytes_per_s": "4.7",
        "rate_low_bytes_per_s": "4.4",
        "rate_high_bytes_per_s": "4.9",
    },
)

READS = Table(
    given={
        "point_count": "85",
        "latency_s": "0.204141142",
        "latency_se_s": "0.036692423",
        "slope_s_per_byte": "1 / 4.827573392e6",
        # Printed as 4.77548E-09, which would give a t of 43.37646. This value rounds to the same six digits
        # and gives the printed t, 43.37643 (the root of F, as it must be).
        "slope_se_s_per_byte": "4.775483E-09",
        "regression_squares_s2": "177.6032099",
        "residual_squares_s2": "7.834681879",
    },
    # The scan has "2.07143&" and, a line below, "07".
    slope="2.07143E-07",
    printed={
        "r": "0.978647215",
        "r_squared": "0.957750372",
        "regression_df": "1",
        "residual_df": "83",
        "total_df": "84",
        "total_squares_s2": "185.4378918",
        "regression_mean_square_s2": "177.6032",
        "residual_mean_square_s2": "0.094394",
        "f": "1881.514",
        "f_p": "8.35394E-59",
        "latency_t": "5.563578",
        "latency_p": "3.15E-07",
        # The table prints 0.131161368, and 0.277120 with one more digit, which the scan shows as a comma.
        "latency_low_s": "0.131161388",
        "latency_high_s": "0.2771209",
        "slope_t": "43.37643",
        "slope_p": "8.35E-59",
        "slope_low_s_per_byte": "1.97645E-07",
        # The scan has "2.166E-0'".
        "slope_high_s_per_byte": "2.166E-07",
        "rate_bytes_per_s": "4827573.392",
    },
    summary={
        "latency_s": "0.20",
        "latency_low_s": "0.13",
        "latency_high_s": "0.28",
        "rate_bytes_per_s": "4.8",
        "rate_low_bytes_per_s": "4.6",
        "rate_high_bytes_per_s": "5.1",
    },
)

TABLES = pytest.mark.parametrize("table", [WRITES, READS], ids=["writes", "reads"])


def compute(connection: psycopg.Connection, table: Table) -> dict[str, float]:
    arguments = ", ".join(f"{name} => {value}" for name, value in table.given.items())
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(
            f"SELECT {table.given['slope_s_per_byte']} AS slope_s_per_byte,"
            f" {table.given['latency_s']} AS latency_s, statistics.*"
            f" FROM mart.line_statistics({arguments}) AS statistics".encode()
        ).fetchone()
    assert row is not None
    return {name: float(value) for name, value in row.items()}


def to_digits_of(printed: str, value: float) -> Decimal:
    """`value` with as many digits as `printed` has."""
    digits = len(Decimal(printed).as_tuple().digits)
    return Decimal(f"{value:.{digits - 1}e}")


@TABLES
def test_every_printed_digit_is_reproduced(database: psycopg.Connection, table: Table) -> None:
    found = compute(database, table)
    expected = {**table.printed, "slope_s_per_byte": table.slope}
    assert {name: to_digits_of(printed, found[name]) for name, printed in expected.items()} == {
        name: Decimal(printed) for name, printed in expected.items()
    }


@TABLES
def test_table_of_both(database: psycopg.Connection, table: Table) -> None:
    found = compute(database, table)
    for name, printed in table.summary.items():
        value = found[name] / 1e6 if "bytes_per_s" in name else found[name]
        assert round(Decimal(value), -Decimal(printed).as_tuple().exponent) == Decimal(printed), name


def test_the_printed_standard_error_of_the_reads_slope() -> None:
    assert to_digits_of("4.77548E-09", float(READS.given["slope_se_s_per_byte"])) == Decimal("4.77548E-09")


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [(WRITES, "0.639746718", "0.8723223"), (READS, "0.131161368", "0.2771209")],
    ids=["writes", "reads"],
)
def test_the_printed_ends_of_the_latency(
    database: psycopg.Connection, table: Table, low: str, high: str
) -> None:
    """They were calculated with a t that is too large by less than one part in a million.

    Both ends of an interval imply the same t, so the digits were not altered by scanning. No number of
    degrees of freedom gives that t; presumably LLNL's program approximated the inverse of t's distribution.
    """
    latency, error = Decimal(table.given["latency_s"]), Decimal(table.given["latency_se_s"])
    printed_t = (latency - Decimal(low)) / error
    assert to_digits_of(high, float(latency + printed_t * error)) == Decimal(high)

    df = int(table.printed["residual_df"])
    ours, one_less = (
        database.execute("SELECT mart.student_t_quantile(0.975, %s)", [each]).fetchone()[0]
        for each in (df, df - 1)
    )
    assert 2e-7 < float(printed_t) / ours - 1 < 6e-7
    assert float(printed_t) < one_less * (1 - 2e-5)
