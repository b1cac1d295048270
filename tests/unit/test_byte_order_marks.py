"""Files that people write may begin with a UTF-8 byte order mark, which some editors add."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.schema.errors import WorkloadError
from tapewise.schema.settings import read_secret_file, read_settings
from tapewise.simulator.demand.models import load_model_file
from tapewise.simulator.machines import read_machine, read_machine_text
from tests.unit.layouts.made_up import SITE

ARCHIVE = '[[archives]]\nname = "a"\ntimezone = "UTC"\n[[archives.sources]]\nformat = "nft"\npaths = ["x"]\n'
MACHINE = read_machine_text("llnl-unitree-1998")
# The text of a file, its name, and the function that reads it.
CASES: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "settings": (ARCHIVE, "tapewise.toml", lambda path: read_settings(config=path).archives),
    "a secret": ("hush\n", "secret", read_secret_file),
    "a layout": (SITE, "site.toml", lambda path: find_format(str(path)).layout_text),
    "a machine": (MACHINE, "machine.toml", lambda path: read_machine(path).model_dump()),
}


@pytest.mark.parametrize("text, name, read", CASES.values(), ids=CASES)
def test_a_mark_changes_nothing(text: str, name: str, read: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    plain = read(path)
    path.write_text(text, encoding="utf-8-sig")
    assert read(path) == plain


def test_a_mark_does_not_change_how_json_is_read(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"format": "another"}', encoding="utf-8-sig")
    with pytest.raises(WorkloadError, match="format is not"):
        load_model_file(tmp_path / "model.json")
