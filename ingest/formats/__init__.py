"""The log formats that can be read; each is a module that says what its lines look like."""

from ingest.formats.base import Format
from ingest.formats.cond import COND
from ingest.formats.hpss_daily import HPSS_DAILY
from ingest.formats.hsi import HSI
from ingest.formats.nft import NFT
from ingest.formats.pftp import PFTP
from ingest.formats.stat import STAT
from schema.errors import FormatError

FORMATS: dict[str, Format] = {format_.name: format_ for format_ in (NFT, PFTP, HSI, COND, STAT, HPSS_DAILY)}


def find_format(name: str) -> Format:
    """The format called `name`; raises `FormatError` if there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        known = ", ".join(sorted(FORMATS))
        raise FormatError(f"no log format is called {name!r}", hint=f"the formats are {known}") from None
