"""What a report says of totals of mounts and of listings is what their lines say, counted without Tapewise.

The logs report nothing else, so no other section has rows.
"""

import json
import math
import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.acceptance.conftest import run_command

pytestmark = pytest.mark.study("sql", "tapewise/report")

LOGS = ("totals.log", "listings.log", "hpss.log")
BEGAN_AT = datetime(2025, 8, 17, 6, tzinfo=UTC)
ZONE = "Europe/Zurich"
STEPS = {
    **{"whole session": "totalTime", "mount": "mountTime", "position": "positionTime"},
    **{
        "read or write": "readWriteTime",
        "flush": "flushTime",
        "unload": "unloadTime",
        "dismount": "unmountTime",
    },
}
# Another catalogue also says how old queues are. In an earlier listing, one was older and shorter.
QUEUES = [
    {"listed_at": f"2025-08-17T{at}:00Z", "kind": "queue", "system": "hpss", "task": "stage", "files": files}
    | {"class_of_service": pool, "bytes": size_bytes, "since": f"2025-08-17T{since}:00Z"}
    for at, pool, files, size_bytes, since in (
        ("05:50", "12", 1, 1, "01:00"),
        ("06:00", "12", 3, 5, "05:00"),
        ("06:00", "12", 3, 5, "05:30"),
        ("06:00", "13", 3, 5, "05:40"),
        ("06:00", "13", 3, None, "05:50"),
        ("06:00", "a", 3, 5, "05:50"),
    )
]
SECTIONS = ("mount_totals", "mount_total_steps", "listed_volumes", "listed_drives", "listed_queues")


def make_sessions(count: int = 130) -> list[dict[str, object]]:
    """Made-up lines at the ends of sessions; some lack a time, and some mounted nothing."""
    draw = random.Random(5)
    sessions = []
    for number in range(count):
        steps = {key: round(draw.expovariate(1 / 40), 3) for key in STEPS.values()}
        steps["totalTime"] = round(sum(steps.values()), 3)
        session = {
            "epoch_time": BEGAN_AT.timestamp() + 600 * number,
            "local_time": "2025-08-17T08:23:03+0200",
            **{"hostname": "tpsrv001", "program": "cta-taped", "log_level": "INFO", "pid": 1, "tid": 1},
            **{"message": "Tape session finished", "drive_name": "F01", "instance": "ctatest"},
            **{"tapeVid": f"L{draw.randrange(20):05}", "mountId": str(number), "tapeDrive": "F01"},
            "mountType": draw.choice(["Retrieve", "ArchiveForUser", "ArchiveForRepack"]),
            "wasTapeMounted": draw.random() < 0.9,
            "status": draw.choice(["success", "success", "failure"]),
            **{"filesCount": draw.randrange(9), "dataVolume": draw.randrange(10**12), **steps},
        }
        for key in ("readWriteTime", "positionTime", "totalTime"):
            if draw.random() < 0.1:
                del session[key]
        sessions.append(session)
    return sessions


def make_listings(count: int = 11) -> list[dict[str, object]]:
    """Made-up listings of cartridges, drives and queues, ten minutes apart. Some sizes are unknown."""
    draw = random.Random(6)
    items: list[dict[str, object]] = []
    for number in range(count):
        at = f"{BEGAN_AT + timedelta(minutes=10 * number):%FT%TZ}"
        for volume in range(40):
            files = draw.choice([0, 7, 4000])
            items.append(
                {
                    **{"listing": "tape", "listed_at": at, "vid": f"L{volume:05}", "full": files == 4000},
                    "state": draw.choice(["ACTIVE", "ACTIVE", "DISABLED"]),
                    **{"capacity": "18000000000000", "occupancy": str(files * draw.randrange(10**9))},
                    "nbMasterFiles": str(files),
                }
            )
            if 5 <= volume < 12:
                del items[-1]["capacity"]
        for drive in range(3):
            status = draw.choice(["DOWN", "SHUTDOWN"]) if draw.random() < drive / 3 else "TRANSFERRING"
            items.append(
                {"listing": "drive", "listed_at": at, "driveName": f"F{drive}", "driveStatus": status}
            )
            items[-1]["logicalLibrary"] = "LIB1"
        for pool in ("a", "a", "b", "c")[: 2 if number == count - 1 else 4]:
            items.append({"listing": "queue", "listed_at": at, "tapepool": pool, "mountType": "RETRIEVE"})
            items[-1] |= {"queuedFiles": draw.randrange(1, 99), "queuedBytes": draw.randrange(10**12)}
    return items


@pytest.fixture(scope="module")
def sessions():
    return make_sessions()


@pytest.fixture(scope="module")
def listings():
    return make_listings()


@pytest.fixture(scope="module")
def document(sessions, listings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("totals")
    for name, lines in (("totals.log", sessions), ("listings.log", listings)):
        (folder / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "hpss.log").write_text("".join(f"{json.dumps(line)}\n" for line in QUEUES))
    home = ["--home", str(folder / "home")]
    done = run_command([*home, "report", "--json", "--timezone", ZONE, *LOGS], cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def place(values, ratio):
    """The least value that this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[math.ceil(ratio * len(ordered)) - 1]


def group(items, *names):
    groups = defaultdict(list)
    for item in items:
        groups[tuple(item.get(name) for name in names)].append(item)
    return groups


def take_last(listings, what):
    """The items of this kind, and those of the last listing that has any."""
    items = [item for item in listings if item["listing"] == what]
    last = max(item["listed_at"] for item in items)
    return items, [item for item in items if item["listed_at"] == last], say_local(last)


def say_local(text):
    return f"{datetime.fromisoformat(text).astimezone(ZoneInfo(ZONE)):%F %H:%M}"


def test_only_these_sections_have_rows(document):
    tables = {name for name, value in document.items() if isinstance(value, list) and value}
    assert tables - {"files", "doubts", "findings", "missing"} == set(SECTIONS)
    assert not set(SECTIONS) & document["left_out"].keys()


def test_totals_of_sessions(document, sessions):
    expected = []
    for task, reads in (("stage", True), ("migration", False)):
        found = [each for each in sessions if (each["mountType"] == "Retrieve") == reads]
        timed = [each for each in found if "totalTime" in each and "readWriteTime" in each]
        moved = [each for each in found if "readWriteTime" in each]
        expected.append(
            {
                **{"task": task, "session_count": len(found)},
                "mountless_count": sum(not each["wasTapeMounted"] for each in found),
                "failed_count": sum(each["status"] == "failure" for each in found),
                "file_count": sum(each["filesCount"] for each in found),
                "size_bytes": sum(each["dataVolume"] for each in found),
                "duration_s": pytest.approx(sum(each.get("totalTime", 0) for each in found)),
                "transfer_ratio": pytest.approx(
                    sum(each["readWriteTime"] for each in timed) / sum(each["totalTime"] for each in timed)
                ),
                "rate_bytes_per_s": pytest.approx(
                    sum(each["dataVolume"] for each in moved) / sum(each["readWriteTime"] for each in moved)
                ),
            }
        )
    assert document["mount_totals"] == sorted(expected, key=lambda row: -row["session_count"])
    [finding] = [each for each in document["findings"] if each["section"] == "mount_totals"]
    assert finding["is_notable"] and finding["sentence"].startswith("Drives read or wrote for ")


def test_steps_of_sessions(document, sessions):
    mounted = [each for each in sessions if each["wasTapeMounted"]]
    expected = []
    for step, key in STEPS.items():
        values = [each[key] for each in mounted if key in each]
        timed = [each for each in mounted if key in each and "totalTime" in each]
        ratio = sum(each[key] for each in timed) / sum(each["totalTime"] for each in timed)
        expected.append(
            {
                **{"step": step, "session_count": len(values)},
                "time_ratio": None if step == "whole session" else pytest.approx(ratio),
                **{f"p{percent}_s": place(values, percent / 100) for percent in (50, 95, 99)},
                "max_s": max(values),
            }
        )
    assert document["mount_total_steps"] == expected


def test_cartridges_of_the_last_listing(document, listings):
    _, last, listed_local = take_last(listings, "tape")
    expected = []
    for (state, is_full), found in group(last, "state", "full").items():
        sizes = [int(each["occupancy"]) for each in found]
        capacities = [int(each["capacity"]) if "capacity" in each else None for each in found]
        known = [(size, capacity) for size, capacity in zip(sizes, capacities, strict=True) if capacity]
        files = [int(each["nbMasterFiles"]) for each in found]
        expected.append(
            {
                **{"state": state, "is_full": is_full, "volume_count": len(found)},
                **{"blank_count": files.count(0), "file_count": sum(files), "size_bytes": sum(sizes)},
                "capacity_bytes": None if None in capacities else sum(capacities),
                "fill_ratio": pytest.approx(sum(size for size, _ in known) / sum(each for _, each in known)),
                "fill_ratio_p50": pytest.approx(place([size / capacity for size, capacity in known], 0.5)),
                "listed_local": listed_local,
            }
        )
    expected.sort(key=lambda row: (-row["volume_count"], row["state"], row["is_full"]))
    assert document["listed_volumes"] == expected
    assert None in [row["capacity_bytes"] for row in expected]


def test_the_share_of_listings_in_which_drives_were_up(document, listings):
    items, _, listed_local = take_last(listings, "drive")
    expected = []
    for (name,), found in group(items, "driveName").items():
        up_ratio = sum(each["driveStatus"] == "TRANSFERRING" for each in found) / len(found)
        last = max(found, key=lambda each: each["listed_at"])
        expected.append(
            {
                **{"drive": name, "location": "LIB1", "listing_count": len(found)},
                **{"up_ratio": pytest.approx(up_ratio), "state": last["driveStatus"]},
                "listed_local": listed_local,
            }
        )
    seldom = sum(row["up_ratio"] < 0.9 for row in document["listed_drives"])
    assert document["listed_drives"] == sorted(expected, key=lambda row: row["up_ratio"].expected)
    [finding] = [each for each in document["findings"] if each["section"] == "listed_drives"]
    assert finding["sentence"] == f"Of 3 drives, {seldom} were up in less than 90 % of the listings"


def test_queues_of_the_last_listing(document, listings):
    items, last, listed_local = take_last(listings, "queue")
    expected = []
    for (pool,), found in group(items, "tapepool").items():
        now = [each for each in last if each["tapepool"] == pool]
        sums = [
            [sum(each[key] for each in listed) for key in ("queuedFiles", "queuedBytes")]
            for listed in group(found, "listed_at").values()
        ]
        expected.append(
            {
                **{"task": "stage", "class_of_service": pool, "queue_count": len(now)},
                "file_count": sum(each["queuedFiles"] for each in now),
                "size_bytes": sum(each["queuedBytes"] for each in now),
                "oldest_s": None,
                **dict(
                    zip(("most_file_count", "most_bytes"), map(max, zip(*sums, strict=True)), strict=True)
                ),
                "listed_local": listed_local,
            }
        )
    # A queue that is not in the last listing is empty.
    oldest, others = document["listed_queues"][:3], document["listed_queues"][3:]
    assert [row["queue_count"] for row in others] == [2, 0, 0]
    assert others == sorted(expected, key=lambda row: (-row["size_bytes"], row["class_of_service"]))
    assert [list(row.values()) for row in oldest] == [
        ["stage", "12", 2, 6, 10, 3600, 6, 10, "2025-08-17 08:00"],
        ["stage", "13", 2, 6, None, 1200, 6, None, "2025-08-17 08:00"],
        ["stage", "a", 1, 3, 5, 600, 3, 5, "2025-08-17 08:00"],
    ]


def test_a_report_about_an_archive_has_the_same_sections(document, sessions, listings, tapewise, tmp_path):
    for name, lines in zip(LOGS, (sessions, listings, QUEUES), strict=True):
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    about = ["--archive", "totals", "--kind", "synthetic", "--timezone", ZONE]
    done = tapewise("ingest", *about, *LOGS)
    assert done.returncode == 0, done.stderr
    asked = ["report", "--archive", "totals", "--json"]
    whole = json.loads(tapewise(*asked).stdout)
    # A sum of floats depends on their order.
    for name in SECTIONS:
        for row, expected in zip(whole[name], document[name], strict=True):
            sums = {key for key, value in row.items() if isinstance(value, float)}
            assert row == expected | {key: pytest.approx(expected[key]) for key in sums}
    # The second local day, on which sessions ended but nothing was listed.
    day = json.loads(tapewise(*asked, "--since", "2025-08-18", "--until", "2025-08-19").stdout)
    begins_s = datetime(2025, 8, 18, tzinfo=ZoneInfo(ZONE)).timestamp()
    ended = [each for each in sessions if begins_s <= each["epoch_time"] < begins_s + 86_400]
    assert sum(row["session_count"] for row in day["mount_totals"]) == len(ended) < len(sessions)
    mounted = sum(each["wasTapeMounted"] for each in ended)
    assert 0 < day["mount_total_steps"][1]["session_count"] == mounted
    assert {day["left_out"][name] for name in SECTIONS[2:]} == {"None in this time."}
