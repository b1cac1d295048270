"""A database that has never been upgraded."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapewise.schema.database import Warehouse
from tapewise.schema.tables import upgrade
from tests.conftest import Site


@pytest.fixture
def empty(site: Site) -> Iterator[Warehouse]:
    """An empty database."""
    name = f"tapewise_empty_{os.getpid()}"
    site.maintain("CREATE DATABASE {}", name)
    yield site.warehouse(name)
    site.maintain("DROP DATABASE {} WITH (FORCE)", name)


# A revision such as a later program would have. It adds a column and fills it for existing rows.
NEXT_REVISION = '''"""For tests: the revision after the newest."""

from tapewise.migrations.statements import run

revision = "9000"
down_revision = "{newest}"


def upgrade() -> None:
    """Archives get a motto."""
    run("ALTER TABLE core.archives ADD COLUMN motto text; UPDATE core.archives SET motto = upper(name);")


def downgrade() -> None:
    """It goes."""
    run("ALTER TABLE core.archives DROP COLUMN motto;")
'''


@pytest.fixture
def next_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Add one more revision to this program, and return its number."""
    folder = tmp_path / "migrations"
    shutil.copytree(upgrade._MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = NEXT_REVISION.format(newest=upgrade.newest_revision())
    (folder / "versions" / "9000_next.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(upgrade, "_MIGRATIONS", folder)
    return "9000"
