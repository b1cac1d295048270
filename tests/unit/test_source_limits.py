"""The pages of Superset get the limits of sources as SQL."""

import json

import pytest

from tapewise.dashboards.source_limits import VARIABLE, write_limits

NONE = "VALUES (NULL::text, NULL::text, NULL::double precision)"


@pytest.mark.parametrize(
    ("limits", "rows"),
    [
        (None, NONE),
        ([], NONE),
        (
            [["llnl", "nft", 2], ["o'brien", "a", 26.5]],
            f"{NONE}, ('llnl', 'nft', 2.0), ('o''brien', 'a', 26.5)",
        ),
    ],
)
def test_limits_are_rows_and_names_are_quoted(
    monkeypatch: pytest.MonkeyPatch, limits: list[object] | None, rows: str
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if limits is not None:
        monkeypatch.setenv(VARIABLE, json.dumps(limits))
    assert write_limits() == rows
