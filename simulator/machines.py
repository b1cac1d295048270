"""Machine descriptions: TOML files, checked before anything runs.

    [users]
    limit_count = 10            # active transfers of one user

becomes `Machine(users=Users(limit_count=10), ...)`. Units are part of the names; MB and GB are powers of ten.
Some tables may be omitted: without `[tapes]`, nothing is staged or stored, and without `[purge]`, nothing is
removed from disk.
"""

import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, ValidationError, model_validator

from tapewise.schema.errors import MachineError
from tapewise.simulator.disks import POOLED, Disk, DiskPool, Purge, list_pools
from tapewise.simulator.failures import MEASURED, Failures
from tapewise.simulator.libraries import Cartridges, Drives, Library, Locate, Recalls, Writes
from tapewise.simulator.limits import Limits, Priorities, list_columns
from tapewise.simulator.outages import Outage, check_outages
from tapewise.simulator.parts import Bytes, Count, Interval, Part, Rate, Ratio, Seconds
from tapewise.simulator.prices import Prices

_FOLDER = files("tapewise.simulator") / "machines"


class Users(Part):
    """The limit on one user's simultaneous transfers; `limits.py` has those of others."""

    limit_count: Count


class PortRange(Part):
    """Files larger than `over_bytes`, up to the next range, use ports `first` to `last` (numbered from 1)."""

    over_bytes: Annotated[int, Field(ge=-1, le=1 << 53)]
    first: Count
    last: Count


class Ports(Part):
    """The ports. A transfer with a client needs one, and takes the lowest free port for its size.

    With `serialised` queueing, a job takes its user's token, then holds it while it queues for a port. With
    `joint` queueing, a job waits for both and holds neither.
    """

    count: Count
    queueing: Literal["serialised", "joint"]
    ranges: Annotated[tuple[PortRange, ...], Field(min_length=1, strict=False)]

    @model_validator(mode="after")
    def _check_ranges(self) -> Self:
        if self.ranges[0].over_bytes != -1:
            raise ValueError(
                "the first of the ranges must have over_bytes = -1, or the smallest files have no port"
            )
        for before, after in zip(self.ranges, self.ranges[1:], strict=False):
            if after.over_bytes <= before.over_bytes:
                raise ValueError(f"over_bytes of ranges must increase, {after.over_bytes} does not")
        used: set[int] = set()
        for one in self.ranges:
            if not one.first <= one.last <= self.count:
                raise ValueError(
                    f"ports {one.first} to {one.last} (over {one.over_bytes} bytes)"
                    f" are not within 1 to {self.count}"
                )
            used |= set(range(one.first, one.last + 1))
        if unused := sorted(set(range(1, self.count + 1)) - used):
            raise ValueError(f"no range uses port {unused[0]}")
        return self


class Network(Part):
    """The rates of the archive's network, one for each direction, and a client's own limit, if any."""

    in_bytes_per_s: Rate
    out_bytes_per_s: Rate
    client_bytes_per_s: Rate | None = None


class Latency(Part):
    """The time from getting a port to the first byte of a transfer."""

    put_s: Seconds
    get_s: Seconds


class Silo(Part):
    """A robotic store of cartridges: the number of its tape chain, from 1, and how many drives it has."""

    chain: Count
    drive_count: Count


class FixedLoad(Part):
    """Every tape load takes `load_s`."""

    law: Literal["fixed"]
    load_s: Seconds


class TwoExponentials(Part):
    """Short and long loads: `short_ratio` of all loads are short.

    Short loads take `short_s` + Exp(`short_mean_s`), truncated at `long_s`. Long loads take `long_s` +
    Exp(`long_mean_s`).
    """

    law: Literal["two_exponentials"]
    short_ratio: Ratio
    short_s: Seconds
    short_mean_s: Interval
    long_s: Seconds
    long_mean_s: Interval

    @model_validator(mode="after")
    def _check_break(self) -> Self:
        if self.long_s <= self.short_s:
            raise ValueError("long_s must be above short_s")
        return self

    @property
    def mean_s(self) -> float:
        """The mean of the distribution."""
        span = self.long_s - self.short_s
        tail = math.exp(-span / self.short_mean_s)
        short_s = self.short_s + self.short_mean_s - span * tail / (1 - tail)
        return self.short_ratio * short_s + (1 - self.short_ratio) * (self.long_s + self.long_mean_s)


class Store(Part):
    """How files are stored to tape: one list of files at a time, with pauses of `interval_s` in between.

    A list contains the files that are not on tape yet and have been on disk for `min_age_s`. With
    `after_recalls`, it gets a drive only if no recall waits for one.
    """

    interval_s: Interval
    min_age_s: Seconds
    cartridge_bytes: Bytes
    after_recalls: bool = False


class Tapes(Part):
    """Tape chains, silos and drives; `drive_queue` says if a job queues for its silo's or chain's drives."""

    chain_count: Count
    chain_bytes_per_s: Rate
    drive_queue: Literal["silo", "chain"]
    silos: Annotated[tuple[Silo, ...], Field(min_length=1, strict=False)]
    load: Annotated[FixedLoad | TwoExponentials, Field(discriminator="law")]
    store: Store | None = None

    @property
    def drive_count(self) -> int:
        """The drives of all silos."""
        return sum(silo.drive_count for silo in self.silos)

    @model_validator(mode="after")
    def _check_chains(self) -> Self:
        for silo in self.silos:
            if silo.chain > self.chain_count:
                raise ValueError(f"a silo is on chain {silo.chain}, but chain_count is {self.chain_count}")
        return self


def _name_tapes(value: Any) -> str:
    """Return which of the two kinds of tapes a machine file describes: cartridges, or only silos."""
    is_library = isinstance(value, Library) or (
        isinstance(value, dict) and not value.keys().isdisjoint(("drives", "cartridges", "robots"))
    )
    return _LIBRARY if is_library else _SILOS


# pydantic puts the kind's name into the place of an error, from where `parse_machine` removes it.
_LIBRARY, _SILOS = "<with cartridges>", "<in silos>"
_Tapes = Annotated[
    Annotated[Tapes, Tag(_SILOS)] | Annotated[Library, Tag(_LIBRARY)], Discriminator(_name_tapes)
]


class Machine(Part):
    """An archive's machine, as its file describes it."""

    title: str
    users: Users
    limits: Limits | None = None
    priorities: Priorities | None = None
    ports: Ports
    network: Network
    latency: Latency
    failures: Failures | None = None
    disk: Disk
    purge: Purge | None = None
    tapes: _Tapes | None = None
    prices: Prices | None = None
    outages: Annotated[tuple[Outage, ...], Field(strict=False)] = ()

    @property
    def drive_counts(self) -> list[int]:
        """The drives of each group, or of each silo."""
        if self.tapes is None:
            return []
        if isinstance(self.tapes, Library):
            return [group.count for group in self.tapes.drives]
        return [silo.drive_count for silo in self.tapes.silos]

    @property
    def robot_count(self) -> int:
        """The robots; 0 where the file does not describe them."""
        return self.tapes.robots.count if isinstance(self.tapes, Library) else 0

    @property
    def trace_columns(self) -> list[str]:
        """The columns that a trace must have besides those that each trace has."""
        columns = list_columns(self.limits, self.priorities)
        is_by_class = isinstance(self.tapes, Library) and self.tapes.has_classes
        if (self.disk.pools or is_by_class) and POOLED not in columns:
            columns.append(POOLED)
        return columns

    @property
    def disk_pools(self) -> list[DiskPool]:
        """The pools of the disk; a disk without pools is one for all files."""
        return list_pools(self.disk, self.purge)

    @model_validator(mode="after")
    def _check_outages(self) -> Self:
        check_outages(self.outages, self.drive_counts, self.robot_count)
        for number, outage in enumerate(self.outages):
            if outage.fails_transfers and self.failures is None:
                raise ValueError(
                    f"outages.{number}: fails_transfers needs [failures], which says when they are repeated"
                )
        return self

    @model_validator(mode="after")
    def _check_prices(self) -> Self:
        if self.prices is not None and not isinstance(self.tapes, Library):
            for name in ("robot", "cartridge"):
                if getattr(self.prices, f"{name}_per_year") is not None:
                    raise ValueError(f"prices.{name}_per_year needs tapes.cartridges: others are not counted")
        return self

    @model_validator(mode="after")
    def _check_purge(self) -> Self:
        if self.purge is not None and self.tapes is None:
            raise ValueError("purge needs tapes, or the files that it removes are lost")
        return self

    @model_validator(mode="after")
    def _check_pools(self) -> Self:
        list_pools(self.disk, self.purge)
        return self

    @model_validator(mode="after")
    def _check_cartridges(self) -> Self:
        if isinstance(self.tapes, Library):
            if self.purge is not None and self.tapes.store is None:
                raise ValueError("purge needs tapes.store, or the files that it removes are on no cartridge")
            for name in self.tapes.technologies or [None]:
                room = self.tapes.find_capacity(name)
                if room < self.disk.largest_file_bytes:
                    where = f"technologies.{name}" if name else "cartridges"
                    raise ValueError(
                        f"tapes.{where}.capacity_bytes is {room}, but a file of disk.largest_file_bytes"
                        f" ({self.disk.largest_file_bytes}) must fit on one cartridge"
                    )
        return self

    def with_disk(self, capacity_bytes: int) -> "Machine":
        """Return the same machine with a disk of about this size: its LVs are as many, and larger or smaller.

        Raises MachineError if the largest file that it accepts does not fit.
        """
        lv_bytes = max(1, round(capacity_bytes / (self.disk.chain_count * self.disk.lvs_per_chain)))
        tables = self.model_dump(exclude_unset=True)
        tables["disk"]["lv_bytes"] = lv_bytes
        return parse_machine(tables, self.title)

    def with_pool(self, pool: DiskPool) -> "Machine":
        """Return the same machine with one pool of its disk as the whole disk."""
        whole = {"pools": {}, "chain_count": 1, "lvs_per_chain": 1, "lv_bytes": pool.capacity_bytes}
        disk = self.disk.model_copy(update=whole)
        return self.model_copy(update={"disk": disk, "purge": pool.purge})

    def with_failures(self, measured_ratio: float | None, where: str) -> "Machine":
        """Return the same machine with the measured ratio of failures instead of `as measured`.

        `measured_ratio` is None if it is not known `where` the requests come from. Raises MachineError if the
        machine needs it then, and if all requests failed.
        """
        if self.failures is None or self.failures.ratio != MEASURED:
            return self
        if measured_ratio is None:
            raise MachineError(
                f'failures: ratio = "as measured" needs an archive whose log says what failed, not {where}',
                hint="Give the ratio as a number, such as 0.01.",
            )
        if measured_ratio == 1:
            raise MachineError(
                f'failures: ratio = "as measured" is below 1, but {where} has no request that did not fail',
                hint="Give the ratio as a number, such as 0.01.",
            )
        return self.model_copy(
            update={"failures": self.failures.model_copy(update={"ratio": measured_ratio})}
        )

    def with_outages(self, measured_s: Sequence[tuple[float, float]] | None, where: str) -> "Machine":
        """Return the same machine with the measured outages, as (beginning, end), instead of `as measured`.

        `measured_s` is None if no outages are known `where` the requests come from. Raises MachineError if
        the machine needs them then.
        """
        if all(outage.when is None for outage in self.outages):
            return self
        if measured_s is None:
            raise MachineError(
                f'outages: when = "as measured" needs the requests of an archive, not of {where}',
                hint="Give --trace, or say when the outages begin and how long they last.",
            )
        outages = []
        for outage in self.outages:
            outages += [outage.at(*each) for each in measured_s] if outage.when else [outage]
        return self.model_copy(update={"outages": tuple(outages)})


def read_machine(path: Path) -> Machine:
    """Read and check a machine file.

    Raises:
        MachineError: the file cannot be read, is not valid TOML, or has a missing or wrong field; the message
            names the file and the field.
    """
    return parse_machine(_read_tables(path), str(path))


def _read_tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise MachineError(
            f"{path}: {error.strerror or error}",
            hint=f"Give a machine file, or a bundled machine: {', '.join(bundled_machines())}.",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MachineError(f"{path}: not valid TOML: {error}") from error


def find_faults(path: Path) -> tuple[list[str], str]:
    """Return what is wrong with a machine file (for each fault, its field and the reason), and a hint.

    Contradictions between fields are only found once the fields themselves are right. Raises MachineError if
    the file cannot be read or is not valid TOML.
    """
    tables = _read_tables(path)
    try:
        Machine.model_validate(tables)
    except ValidationError as error:
        return _describe_faults(error, tables), name_example(tables)
    return [], ""


def parse_machine(tables: dict[str, Any], name: str) -> Machine:
    """Check the tables of a machine file; messages call the file `name`."""
    try:
        return Machine.model_validate(tables)
    except ValidationError as error:
        first, *others = _describe_faults(error, tables)
        more = f" (and {len(others)} more)" if others else ""
        raise MachineError(
            f"{name}: {first}{more}",
            hint=name_example(tables),
        ) from error


def _describe_faults(error: ValidationError, tables: dict[str, Any]) -> list[str]:
    """Describe all faults. A misspelt key comes first, because then the correct key is missing too."""
    found: list[Any] = list(error.errors())
    faults = list(_take_headless(found, tables))
    # A list is also said to be too short if its only entry is wrong.
    found = [
        each
        for each in found
        if each["type"] != "too_short"
        or not any(other is not each and other["loc"][: len(each["loc"])] == each["loc"] for other in found)
    ]
    for each in sorted(found, key=lambda each: each["type"] != "extra_forbidden"):
        text = _describe_fault(each)
        place = _strip(each)
        if each["type"] == "extra_forbidden" and len(place) == 2 and place[0] in ("limits", "priorities"):
            text += "; there are user, account, client (the host) and class_of_service"
        # What contradicts another table names its own field.
        is_named = re.match(r"(outages\.\d+|disk\.pools)\S*: ", text)
        faults.append(text if is_named else f"{'.'.join(place) or 'machine'}: {text}")
    return faults


def _take_headless(found: list[Any], tables: dict[str, Any]) -> Iterator[str]:
    """Describe tables without a header, whose fields became those of the table before; drop their faults."""
    kind = _name_tapes(tables.get("tapes"))
    for name, parts in (_PARTS | _PARTS_OF_TAPES[kind]).items():
        if _has_header(name, tables):
            continue
        known = {field: about for part in parts for field, about in part.model_fields.items()}
        strangers = [
            each for each in found if each["type"] == "extra_forbidden" and _strip(each)[-1] in known
        ]
        fields = [_strip(each)[-1] for each in strangers]
        required_count = sum(field.is_required() for field in parts[0].model_fields.values())
        # Fewer may only be misspelt or misplaced.
        if not fields or len(fields) < (required_count or len(known)) / 2:
            continue
        table = ".".join(_strip(strangers[0])[:-1]) or "the beginning of the file"
        header = f"[[{name}]]" if parts == (Drives,) else f"[{name}]"
        yield f"{name}: its header is missing, so {table} has its fields: write {header} above {fields[0]}"
        place = name.split(".")
        explained = [place, *([*place, field] for field in fields), *map(_strip, strangers)]
        found[:] = [each for each in found if _strip(each) not in explained]


def _has_header(name: str, tables: dict[str, Any]) -> bool:
    """Return whether a file has a table. One that only has tables itself may be there by their headers."""
    table: Any = tables
    for part in name.split("."):
        table = table.get(part) if isinstance(table, dict) else None
    return table is not None and not (
        isinstance(table, dict) and table and all(isinstance(each, dict) for each in table.values())
    )


def _strip(fault: Any) -> list[str]:
    """Return the place of a fault without what a file does not have: the kinds of tables that were tried."""
    return [str(part) for part in fault["loc"] if part not in _KINDS]


def _describe_fault(fault: Any) -> str:
    """Describe a fault in the words of a machine file, instead of those of Python."""
    given, limits = fault["input"], fault.get("ctx", {})
    shown = f"'{given}'" if isinstance(given, str) else f"{given}"
    if isinstance(given, bool):
        shown = shown.lower()  # as TOML writes it
    if fault["type"] in ("list_type", "tuple_type") and isinstance(given, dict):
        return f"there can be several: write [[{'.'.join(map(str, fault['loc']))}]], with two brackets"
    text = _FAULTS.get(fault["type"])
    if text is None:
        return str(fault["msg"]).removeprefix("Value error, ")
    close = get_close_matches(str(given), re.findall(r"'([^']+)'", str(limits.get("expected"))), n=1)
    meant = f": did you mean '{close[0]}'?" if close else ""
    return text.format(given=shown, **limits) + meant


_WHOLE, _NUMBER = "must be a whole number, not {given}", "must be a number, not {given}"
_BOOLEAN = "must be true or false, not {given}"
_TABLE, _LIST = "must be a table of fields, not {given}", "must be a list, not {given}"
# The tables of which a header may be forgotten, because no other table has all their fields.
_PARTS: dict[str, tuple[type[Part], ...]] = {
    "users": (Users,),
    "ports": (Ports,),
    "network": (Network,),
    "latency": (Latency,),
    "disk": (Disk,),
    "purge": (Purge,),
}
_PARTS_OF_TAPES: dict[str, dict[str, tuple[type[Part], ...]]] = {
    _SILOS: {"tapes": (Tapes,), "tapes.load": (FixedLoad, TwoExponentials), "tapes.store": (Store,)},
    _LIBRARY: {
        "tapes.drives": (Drives,),
        "tapes.cartridges": (Cartridges,),
        "tapes.locate": (Locate,),
        "tapes.recalls": (Recalls,),
        "tapes.store": (Writes,),
    },
}
# What pydantic puts into the place of a fault.
_KINDS = (_LIBRARY, _SILOS, "fixed", "two_exponentials", "[key]")
# What pydantic calls a fault, and what we say.
_FAULTS = {
    "extra_forbidden": "there is no such key",
    "missing": "it is missing",
    "int_type": _WHOLE,
    "float_type": _NUMBER,
    "finite_number": "must be a finite number, not {given}",
    "string_type": "must be a text in quotes, not {given}",
    "model_type": _TABLE,
    "model_attributes_type": _TABLE,
    "dict_type": _TABLE,
    "tuple_type": _LIST,
    "list_type": _LIST,
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "greater_than": "must be above {gt:g}, not {given}",
    "greater_than_equal": "must be at least {ge:g}, not {given}",
    "less_than_equal": "must be at most {le:g}, not {given}",
    "multiple_of": "must be a multiple of {multiple_of:g}, not {given}",
    "literal_error": "must be {expected}, not {given}",
    "too_short": "must have an entry",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "is no name: write a to z, 0 to 9 and _, a letter first",
}


def name_example(tables: dict[str, Any]) -> str:
    """Return a hint at a bundled machine whose tapes are described as in these tables."""
    name = "lto9-hpss" if _name_tapes(tables.get("tapes")) == _LIBRARY else "llnl-unitree-1998"
    return f"`tapewise simulate machine {name}` shows a complete machine file."


def find_machine(name: str) -> Machine:
    """Read a machine file, or the bundled machine of that name. Raises MachineError."""
    if not Path(name).exists() and name in bundled_machines():
        return bundled_machine(name)
    return read_machine(Path(name))


def bundled_machines() -> list[str]:
    """Return the names of the machines that come with Tapewise."""
    return sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir())


def bundled_machine(name: str) -> Machine:
    """Read one of the machines that come with Tapewise, such as `llnl-unitree-1998`. Raises MachineError."""
    return parse_machine(tomllib.loads(read_machine_text(name)), name)


def read_machine_text(name: str) -> str:
    """Return the text of a bundled machine file, with its comments and sources. Raises MachineError."""
    if name not in bundled_machines():
        raise MachineError(
            f"no machine is called '{name}'", hint=f"There are: {', '.join(bundled_machines())}."
        )
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
