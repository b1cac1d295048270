"""UniTree's tape servers at the German climate computing centre (DKRZ): the events of each cartridge.

We defined this layout ourselves, because the centre's paper (Fichtel, DKRZ Workload Analysis) names events
and fields but shows no line. One line (wrapped):

    1996-02-14 09:14:22.871 tapesrvr positioned op=stage by=client cap=4f21.0007 family=7 location=silo1
        copy=1 frag=- vsn=D30117 type=D3 unit=d3-04 block=9120 size=34713600 rc=-

The fields are the date and time of the event, the server, and the event. The other fields are the same for
all events: what is done (stage, or mig: from disk to tape), for whom (a client, or the repacker, which moves
what is left on old cartridges), the file's capability, family and location, the numbers of the copy and the
fragment, the cartridge (VSN) and its type, the physical unit (the drive), the block offset, the size, and the
result (0: success). `-` means that a value is unknown, or that the event has none. Each line
becomes a row of `tape_events`. Its kind depends on the event, and is shown here in parentheses:

- `received` (received): the request came from disksrvr, and may wait in a queue
- `mount` (mount requested), issued to pdmsrvr
- `positioned` (positioned): mounted and positioned; there is no event for the mount alone
- `complete` (transferred): the file was read or written; the drive may then wait for another request
- `dismount` (dismount requested), issued to pdmsrvr
- `dismounted` (dismounted)

The first four events concern a file and need op, by, cap and copy, except `mount`, which needs only a VSN.
Events in a drive need a VSN and a unit. Events of any other kind are rejected.
"""

from functools import partial

import polars as pl

from tapewise.ingest.formats.unitree_events import (
    MAX_NUMBER,
    NUMBER,
    STAMP,
    STAMP_LAYOUT,
    STAMP_START,
    WORD,
    name_unknown_events,
    value_or_null,
)
from tapewise.ingest.records.fields import bare_lines, clock_time, exceeds, whole_number, with_fates
from tapewise.ingest.records.format import Format, LineSettings, complete_records, event_time
from tapewise.ingest.records.joined_lines import reject_joined

LINE = (
    rf"^{STAMP} (?:tapesrvr|pdmsrvr) (?<operation>[^ ]+) op=(?<op>stage|mig|-)"
    rf" by=(?<requester>client|repacker|-) cap=(?<capability>{WORD}) family=(?<family>{WORD})"
    rf" location=(?<location>{WORD}) copy=(?<copy_text>{NUMBER}) frag=(?<fragment_text>{NUMBER})"
    rf" vsn=(?<vsn>{WORD}) type=(?<tape_type>{WORD}) unit=(?<drive>{WORD}) block=(?<block_text>{NUMBER})"
    rf" size=(?<size_text>{NUMBER}) rc=(?<code_text>-|-?[0-9]+)$"
)
KINDS = {
    "received": "received",
    "mount": "mount requested",
    "positioned": "positioned",
    "complete": "transferred",
    "dismount": "dismount requested",
    "dismounted": "dismounted",
}
HEAD = rf"^{STAMP} (?:tapesrvr|pdmsrvr) (?<event>[^ ]+)(?: |$)"
LINE_START = f"{STAMP_START} (?:tapesrvr|pdmsrvr) "
FIELD_MISSING = "a field that the event needs is missing"
MAX_BLOCK = 2**53

_TEXTS = (
    *(
        "op",
        "requester",
        "capability",
        "family",
        "location",
        "copy_text",
        "fragment_text",
        "vsn",
        "tape_type",
    ),
    *("drive", "block_text", "size_text", "code_text"),
)
_OF_A_FILE = ("received", "positioned", "transferred")
_IN_A_DRIVE = ("positioned", "transferred", "dismount requested", "dismounted")


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    """Parse the lines into a record frame; the module's docstring shows a line and explains its record."""
    kind = pl.col("kind")
    records = (
        bare_lines(lines)
        .with_columns(pl.col("line").str.extract_groups(LINE).alias("groups"))
        .unnest("groups")
        .with_columns(
            *(value_or_null(pl.col(name)).alias(name) for name in _TEXTS),
            local=clock_time(pl.col("time_text"), STAMP_LAYOUT),
            kind=pl.col("operation").replace_strict(KINDS, default=None, return_dtype=pl.String),
        )
        .with_columns(
            size_bytes=whole_number(pl.col("size_text")),
            copy_number=whole_number(pl.col("copy_text")),
            fragment_number=whole_number(pl.col("fragment_text")),
            block_offset=whole_number(pl.col("block_text")),
            status_code=pl.col("code_text").cast(pl.Int32, strict=False),
            task=pl.col("op").replace_strict(
                {"stage": "stage", "mig": "migration"}, default=None, return_dtype=pl.String
            ),
            interface=pl.lit("unitree"),
            class_of_service=pl.col("family"),
            user=pl.lit(None, dtype=pl.String),
            host=pl.lit(None, dtype=pl.String),
        )
        .with_columns(is_failed=pl.col("status_code") != 0)
    )
    is_code_out_of_range = pl.col("code_text").is_not_null() & pl.col("status_code").is_null()
    fated = with_fates(
        records,
        is_line=kind.is_not_null(),
        time=event_time(pl.col("local"), settings),
        size_text=pl.col("size_text"),
        is_number_out_of_range=is_code_out_of_range
        | exceeds(pl.col("block_offset"), MAX_BLOCK, text=pl.col("block_text"))
        | exceeds(pl.col("copy_number"), MAX_NUMBER, text=pl.col("copy_text"))
        | exceeds(pl.col("fragment_number"), MAX_NUMBER, text=pl.col("fragment_text")),
        table=pl.lit("tape_events"),
    )
    lacks_file = kind.is_in(_OF_A_FILE) & pl.any_horizontal(
        pl.col("task", "requester", "capability", "copy_number").is_null()
    )
    lacks_drive = kind.is_in(_IN_A_DRIVE) & pl.any_horizontal(pl.col("vsn", "drive").is_null())
    lacks_cartridge = (kind == "mount requested") & pl.col("vsn").is_null()
    is_lacking = pl.col("table").is_not_null() & (lacks_file | lacks_drive | lacks_cartridge)
    settled = fated.with_columns(
        rejected=pl.when(is_lacking).then(pl.lit(FIELD_MISSING)).otherwise("rejected"),
        table=pl.when(~is_lacking).then("table"),
    )
    parsed = complete_records(len(lines), name_unknown_events(settled, HEAD, tuple(KINDS)))
    return reject_joined(parsed, lines, LINE_START, partial(parse, settings=settings), has_free_text=False)


UNITREE_TAPE = Format(
    name="unitree-tape",
    title="tape servers' events of UniTree, as DKRZ describes them (the layout is ours)",
    version=2,
    clock_resolution_s=0.001,
    examples=(
        "1996-02-14 09:12:03.655 tapesrvr received op=stage by=client cap=4f21.0007 family=7 location=silo1"
        " copy=1 frag=- vsn=D30117 type=D3 unit=- block=- size=34713600 rc=-",
        "1996-02-14 09:12:40.118 tapesrvr mount op=stage by=client cap=4f21.0007 family=7 location=silo1"
        " copy=1 frag=- vsn=D30117 type=D3 unit=- block=- size=34713600 rc=-",
        "1996-02-14 09:14:22.871 tapesrvr positioned op=stage by=client cap=4f21.0007 family=7 location=silo1"
        " copy=1 frag=- vsn=D30117 type=D3 unit=d3-04 block=9120 size=34713600 rc=-",
        "1996-02-14 09:14:40.950 tapesrvr complete op=stage by=client cap=4f21.0007 family=7 location=silo1"
        " copy=1 frag=- vsn=D30117 type=D3 unit=d3-04 block=9120 size=34713600 rc=0",
        "1996-02-14 09:19:41.002 pdmsrvr dismount op=- by=- cap=- family=- location=silo1"
        " copy=- frag=- vsn=D30117 type=D3 unit=d3-04 block=- size=- rc=-",
        "1996-02-14 09:20:13.440 pdmsrvr dismounted op=- by=- cap=- family=- location=silo1"
        " copy=- frag=- vsn=D30117 type=D3 unit=d3-04 block=- size=- rc=-",
    ),
    parse=parse,
    failure_tables=("tape_events",),
)
