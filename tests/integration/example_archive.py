"""Loads the example's logs into a warehouse, as the demo does."""

from pathlib import Path

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Warehouse
from tests.conftest import NOW, register

LOGS = Path(__file__).resolve().parents[2] / "examples" / "logs"
ZONE = "America/Los_Angeles"
# NFT's log has the transfers to count. STAT's log has the same transfers and adds stages and failures. PFTP's
# and HSI's logs have other transfers, with failures but no stages. HSI's also has open times.
FILES = [
    (LOGS / "nft.log", "nft"),
    *((path, "cond") for path in sorted(LOGS.glob("cond.*"))),
    (LOGS / "stat.log.gz", "stat"),
    (LOGS / "pftp.log.gz", "pftp"),
    (LOGS / "hsi.log", "hsi"),
]


def load_example(warehouse: Warehouse) -> None:
    """Load the archive `example`, which is synthetic."""
    for path, name in FILES:
        request = SourceRequest("example", "synthetic", find_format(name), ZONE, name, name != "stat")
        load_file(warehouse, register(warehouse, request), path, now=NOW)
