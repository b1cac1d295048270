"""A database that no upgrade has seen."""

import os
from collections.abc import Iterator

import pytest

from tapewise.schema.database import Warehouse
from tests.conftest import Site


@pytest.fixture
def empty(site: Site) -> Iterator[Warehouse]:
    """An empty database."""
    name = f"tapewise_empty_{os.getpid()}"
    site.maintain("CREATE DATABASE {}", name)
    yield site.warehouse(name)
    site.maintain("DROP DATABASE {} WITH (FORCE)", name)
