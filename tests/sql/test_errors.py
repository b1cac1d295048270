"""Tests errors that queries must raise, because cases can only expect rows."""

import psycopg
import pytest

from tests.sql.cases import insert_rows, run_query


@pytest.mark.parametrize("rate", [0, -1])
def test_open_time_clusters_refuse_a_rate_of_zero_or_less(database: psycopg.Connection, rate: int) -> None:
    insert_rows(database, {"transfers": [{"open_s": 95.0, "size_bytes": 100_000_000}]})
    with pytest.raises(psycopg.errors.DivisionByZero):
        run_query(database, f"SELECT * FROM mart.open_time_clusters(staging_rate_bytes_per_s => {rate})")
