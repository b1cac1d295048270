"""Percentiles from the histograms of `core.day_cells` are within their bound of the exact ones."""

import random

import psycopg
import pytest

from tests.sql.cases import insert_rows, run_query

# The middle of a bin is within 1/128 of every rate in it, and so is what lies between two of them.
BOUND = 1 / 128


@pytest.mark.parametrize("seed", range(4))
def test_percentiles_are_within_their_bound(database: psycopg.Connection, seed: int) -> None:
    dice = random.Random(seed)
    transfers = [
        {
            "direction": dice.choice(["get", "put"]),
            "interface": "nft" if number % (20 * seed + 1) else "ftp",
            "class_of_service": dice.choice([None, "a", "b"]),
            "ended_at": f"2000-0{dice.randrange(1, 4)}-{dice.randrange(1, 28):02}T12:00:00Z",
            "size_bytes": int(dice.lognormvariate(15, 4)),
            "duration_s": dice.choice([0.001, 1.0, dice.lognormvariate(0, 3)]),
        }
        for number in range(800)
    ]
    insert_rows(database, {"transfers": transfers})
    about, exactly = (
        run_query(
            database,
            f"SELECT * FROM mart.monthly_rates(is_exact => {is_exact})"
            " ORDER BY starts_on, interface, direction",
        )
        for is_exact in (False, True)
    )
    assert len(about) == len(exactly) >= 6
    errors = []
    for ours, theirs in zip(about, exactly, strict=True):
        for name, value in theirs.items():
            if name.startswith("p"):
                errors.append(abs(ours[name] / value - 1))
            else:
                assert ours[name] == value
    assert max(errors) <= BOUND
    assert max(errors) > BOUND / 4  # they are not the exact ones
