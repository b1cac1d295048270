"""The versions of files are those that a plain replay of the requests counts."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.simulator.demand.versions import find_versions

REQUESTS = st.lists(st.tuples(st.integers(-2, 4), st.booleans()), max_size=30)
HELD = st.lists(st.integers(-3, 5), unique=True, max_size=6)


def replay(held: list[int], requests: list[tuple[int, bool]]) -> dict[str, list[object]]:
    """Number the versions one request after the other."""
    current = {file: (number, 0) for number, file in enumerate(held)}
    first_row = list(range(len(held)))
    names = ("number", "version", "is_early", "is_overwriting")
    found: dict[str, list[object]] = {name: [] for name in names}
    asked = dict.fromkeys(held, -1)
    for row, (file, is_put) in enumerate(requests):
        if file in asked and asked[file] < 0:
            asked[file] = row
        found["is_overwriting"].append(is_put and file in current)
        if is_put or file not in current:
            version = current[file][1] + 1 if file in current else int(is_put)
            current[file] = (len(first_row), version)
            first_row.append(len(held) + row)
        number, version = current[file]
        found["number"].append(number)
        found["version"].append(version)
        found["is_early"].append(version == 0 and (file, True) in requests)
    return {**found, "first_row": list(first_row), "asked_row": [asked[file] for file in held]}


@pytest.mark.parametrize("dtype", [pl.Int64, pl.String, pl.Int8])
@given(held=HELD, requests=REQUESTS)
def test_versions_are_those_of_a_replay(dtype: type[pl.DataType], held, requests):
    files = [file for file, _ in requests]
    is_put = np.array([is_put for _, is_put in requests], np.bool_)
    found = find_versions(
        pl.Series(held, dtype=pl.Int64).cast(dtype), pl.Series(files, dtype=pl.Int64).cast(dtype), is_put
    )
    for name, expected in replay(held, requests).items():
        assert getattr(found, name).tolist() == expected, name
