"""Different routes and days have different cells, however large their numbers are."""

import polars as pl

from tapewise.schema.writing.routes import MOST_DAYS, ROUTE, number_cells

# Numbers up to this one make a factor of 2^31, and days that are four apart would be the same modulo 2^64.
GREATEST = 2**31 - 2


def test_cells_of_large_numbers_are_different() -> None:
    routes = [
        (source_id, interface, direction, class_of_service, client_id)
        for source_id in (1, GREATEST)
        for interface in ("nft", "hsi")
        for direction in ("get", None)
        for class_of_service in (None, "4")
        for client_id in (None, 1, GREATEST)
    ]
    rows = pl.DataFrame(
        [(*route, day) for route in routes for day in (-1, 3, MOST_DAYS - 2)] * 2,
        schema={
            "source_id": pl.Int32,
            **dict.fromkeys(ROUTE, pl.String),
            "client_id": pl.Int32,
            "day": pl.Int64,
        },
        orient="row",
    )
    cell, names = number_cells(rows, rows["day"], ("source_id", *ROUTE))
    days = pl.col("day").cast(pl.Int32).cast(pl.Date)
    placed = rows.with_columns(days, cell=cell).unique()
    assert placed.height == names.height == rows.height / 2
    assert placed.sort("cell").select(names.columns).rows() == names.sort("cell").rows()
    assert names["cell"].sort().to_list() == list(range(names.height))
