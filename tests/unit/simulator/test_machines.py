"""The bundled machine file is valid; messages about mistakes name the file and the field."""

import copy
import tomllib
from pathlib import Path

import pytest

from tapewise.schema.errors import MachineError
from tapewise.simulator.machines import (
    TwoExponentials,
    bundled_machine,
    bundled_machines,
    find_faults,
    parse_machine,
    read_machine,
    read_machine_text,
)

LLNL = Path(__file__).parents[3] / "simulator" / "machines" / "llnl-unitree-1998.toml"


def change(path: str, value: object) -> dict:
    tables = copy.deepcopy(tomllib.loads(LLNL.read_text()))
    place, *rest = path.split(".")
    target = tables
    for name in rest:
        target = target[int(place)] if isinstance(target, list) else target[place]
        place = name
    if value is None:
        del target[place]
    elif isinstance(target, list):
        target[int(place)] = value
    else:
        target[place] = value
    return tables


def test_the_bundled_machine_has_llnls_values():
    machine = bundled_machine("llnl-unitree-1998")
    assert machine.disk.capacity_bytes == 384_000_000_000
    assert machine.tapes.drive_count == 20
    assert machine.ports.count == 13


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("users", None, "m.toml: users: it is missing"),
        ("users.limit_count", 0, "m.toml: users.limit_count: must be above 0, not 0"),
        ("users.limit_count", "10", "m.toml: users.limit_count: must be a whole number, not '10'"),
        ("network.in_bytes_per_s", -1.0, "m.toml: network.in_bytes_per_s: must be above 0, not -1.0"),
        (
            "network.in_bytes_per_s",
            float("nan"),
            "m.toml: network.in_bytes_per_s: must be a finite number, not nan",
        ),
        ("network.speed", 1, "m.toml: network.speed: there is no such key"),
        ("outages", {"what": "disk"}, "m.toml: outages: there can be several: write [[outages]], with two"),
        ("latency.put_s", -0.5, "m.toml: latency.put_s: must be at least 0, not -0.5"),
        ("ports.ranges", [], "m.toml: ports.ranges: must have an entry"),
        ("ports.ranges.0.over_bytes", 0, "m.toml: ports: the first of the ranges must have over_bytes = -1"),
        ("ports.ranges.1.over_bytes", -1, "m.toml: ports: over_bytes of ranges must increase, -1 does not"),
        ("ports.ranges.0.last", 8, None),
        ("ports.ranges.0.last", 14, "m.toml: ports: ports 1 to 14 (over -1 bytes) are not within 1 to 13"),
        ("ports.ranges.0.first", 2, "m.toml: ports: no range uses port 1"),
        ("ports.ranges.0.last", 7, "m.toml: ports: no range uses port 8"),
        ("ports.queueing", "both", "m.toml: ports.queueing: must be 'serialised' or 'joint', not 'both'"),
        (
            "disk.largest_file_bytes",
            400_000_000_000,
            "m.toml: disk: largest_file_bytes is more than the disk",
        ),
        ("purge.low_ratio", 0.9, "m.toml: purge: low_ratio is above high_ratio"),
        ("tapes.silos", [], "m.toml: tapes.silos: must have an entry"),
        ("tapes.silos.2.drive_count", 0, "m.toml: tapes.silos.2.drive_count: must be above 0, not 0"),
        ("tapes.silos.4.chain", 4, "m.toml: tapes: a silo is on chain 4, but chain_count is 3"),
        ("tapes.load.law", "guess", "m.toml: tapes.load: Input tag 'guess'"),
        ("tapes", None, "m.toml: machine: purge needs tapes"),
    ],
)
def test_errors_name_what_is_wrong(path: str, value: object, message: str | None):
    tables = change(path, value)
    if message is None:
        parse_machine(tables, "m.toml")
        return
    with pytest.raises(MachineError) as caught:
        parse_machine(tables, "m.toml")
    assert caught.value.message.startswith(message)


def test_a_file_that_is_not_a_machine_is_named(tmp_path: Path):
    path = tmp_path / "m.toml"
    with pytest.raises(MachineError, match=r"m\.toml: No such file"):
        read_machine(path)
    path.write_text("title = ")
    with pytest.raises(MachineError, match=r"m\.toml: not valid TOML"):
        read_machine(path)
    with pytest.raises(MachineError, match="no machine is called 'cern'"):
        bundled_machine("cern")


def test_the_two_exponential_law_has_the_mean_that_follows_from_its_figures():
    law = TwoExponentials(
        law="two_exponentials", short_ratio=0.224, short_s=60, short_mean_s=21, long_s=120, long_mean_s=30
    )
    assert law.mean_s == pytest.approx(133.7, abs=0.05)


# A text of the bundled file, its replacement, and the error message.
BROKEN = {
    "a hole in the ports: no range for small files": (
        "over_bytes = -1,",
        "over_bytes = 1000,",
        "ports: the first of the ranges",
    ),
    "a hole in the ports: one that nobody uses": (
        "first = 1, last = 13 }",
        "first = 2, last = 13 }",
        "no range uses port 1",
    ),
    "ports that are not there": ("last = 13 },   # A 3.0\n]", "last = 14 },\n]", "are not within 1 to 13"),
    "no drives": (
        "{ chain = 1, drive_count = 4 },",
        "{ chain = 1, drive_count = 0 },",
        "tapes.silos.0.drive_count",
    ),
    "a negative rate": ("in_bytes_per_s = 7_500_000", "in_bytes_per_s = -1", "network.in_bytes_per_s"),
    "a misspelt key": ("limit_count = 10", "limit = 10", "users.limit: there is no such key (and 1 more)"),
    "a text for a number": ("put_s = 0.76", 'put_s = "0.76"', "latency.put_s"),
    "water marks crossed": ("low_ratio = 0.7", "low_ratio = 0.9", "purge: low_ratio is above high_ratio"),
    "not TOML": ("[users]", "[users", "not valid TOML"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_errors_name_file_and_field(tmp_path: Path, what: str):
    old, new, message = BROKEN[what]
    text = read_machine_text("llnl-unitree-1998")
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises(MachineError) as raised:
        read_machine(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert message in str(raised.value)


def test_faults_are_described_in_the_words_of_a_machine_file(tmp_path: Path):
    path = tmp_path / "mine.toml"
    text = read_machine_text("lto9-hpss").replace('"size_age"', '"lruu"').replace('"nearest"', '"neares"')
    path.write_text(
        "latency = 3\n" + text.replace("[latency]\nput_s = 0.5", "").replace("get_s = 0.5  ", "# ")
    )
    faults, hint = find_faults(path)
    assert faults[0].startswith("latency: must be a table of fields, not 3")
    assert any(each.endswith("uses: did you mean 'lru'?") for each in faults)
    assert any(each.endswith("not 'neares': did you mean 'nearest'?") for each in faults)
    assert hint == "`tapewise simulate machine lto9-hpss` shows a complete machine file."


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ("users", "so the beginning of the file has its fields: write [users] above limit_count"),
        ("ports", "so users has its fields: write [ports] above count"),
        ("disk", "so latency has its fields: write [disk] above chain_count"),
        ("purge", "so disk has its fields: write [purge] above high_ratio"),
    ],
)
def test_a_forgotten_header_is_one_fault(table: str, fault: str, tmp_path: Path):
    path = tmp_path / "mine.toml"
    text = read_machine_text("llnl-unitree-1998").replace(f"[{table}]\n", "")
    path.write_text(text)
    fault = f"{table}: its header is missing, {fault}"
    assert find_faults(path)[0] == [fault]
    # The other faults are named too, and a single field in a wrong place is no forgotten header.
    path.write_text(text.replace("[network]", "[network]\nchain_count = 3\nlvs_per_chain = 3"))
    misplaced = {f"network.{name}: there is no such key" for name in ("chain_count", "lvs_per_chain")}
    assert (misplaced | {fault} <= set(find_faults(path)[0])) == (table != "disk")


@pytest.mark.parametrize(
    ("machine", "header", "fault"),
    [
        ("llnl-unitree-1998", "[tapes]", "purge has its fields: write [tapes] above chain_count"),
        ("llnl-unitree-1998", "[tapes.load]", "tapes has its fields: write [tapes.load] above law"),
        (
            "llnl-unitree-1998",
            "[tapes.store]",
            "tapes.load has its fields: write [tapes.store] above interval_s",
        ),
        ("lto9-hpss", "[[tapes.drives]]", "purge has its fields: write [[tapes.drives]] above count"),
        (
            "lto9-hpss",
            "[tapes.cartridges]",
            "tapes.robots has its fields: write [tapes.cartridges] above cap",
        ),
        ("lto9-hpss", "[tapes.locate]", "tapes.cartridges has its fields: write [tapes.locate] above end_to"),
        ("lto9-hpss", "[tapes.recalls]", "tapes.locate has its fields: write [tapes.recalls] above order"),
    ],
)
def test_a_forgotten_header_of_tapes_is_one_fault(machine: str, header: str, fault: str, tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text(read_machine_text(machine).replace(f"{header}\n", "", 1))
    (found,) = find_faults(path)[0]
    assert found.startswith(f"{header.strip('[]')}: its header is missing, so {fault}")


# A text of the bundled file, its replacement, and the error message.
BROKEN_LIBRARIES = {
    "a word for a switch": (
        "[tapes.store]\n",
        '[tapes.store]\nafter_recalls = "yes"\n',
        "tapes.store.after_recalls: must be true or false, not 'yes'",
    ),
    "a misspelt key": ("load_s = 17", "load = 17", "tapes.drives.0.load: there is no such key"),
    "no robots": ("count = 2  ", "count = 0  ", "tapes.robots.count: must be above 0, not 0"),
    "an unknown order": (
        'order = "nearest"',
        'order = "best"',
        "tapes.recalls.order: must be 'arrival', 'record' or 'nearest', not 'best'",
    ),
    "an unknown placement": ('placement = "user"', 'placement = "x"', "tapes.cartridges.placement: must be"),
    "nobody reads": ('role = "both"', 'role = "write"', "tapes: no drive of drives may read"),
    "nobody writes": ('role = "both"', 'role = "read"', "tapes: store needs a drive that may write"),
    "files too large for a cartridge": (
        "capacity_bytes = 18_000_000_000_000",
        "capacity_bytes = 18",
        "tapes.cartridges.capacity_bytes is 18, but",
    ),
    "files that are purged but never written": (
        "[tapes.store]\ninterval_s = 900                # assumed\nmin_age_s = 900                 # assumed"
        "\n",
        "",
        "purge needs tapes.store",
    ),
    "both kinds of tapes": (
        "[tapes.robots]",
        "[[tapes.silos]]\nchain = 1\n\n[tapes.robots]",
        "tapes.silos: there",
    ),
}


@pytest.mark.parametrize("what", BROKEN_LIBRARIES)
def test_errors_of_libraries_name_file_and_field(tmp_path: Path, what: str):
    old, new, message = BROKEN_LIBRARIES[what]
    text = read_machine_text("lto9-hpss")
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises(MachineError) as raised:
        read_machine(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert message in str(raised.value)


@pytest.mark.parametrize("name", bundled_machines())
def test_every_number_of_a_bundled_machine_has_its_source_beside_it(name: str):
    for line in read_machine_text(name).splitlines():
        key, _, rest = line.partition(" = ")
        is_number = key.isidentifier() and rest[:1].isdigit()
        assert not is_number or "#" in rest, key
