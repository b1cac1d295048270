"""What a report says of mounts is what their lines say, counted here without Tapewise."""

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from tests.acceptance.conftest import run_command

FAILED_RC = 5
WORDS = {"stage": "stage", "migration": "mig"}


def make_mounts(count: int = 130) -> list[dict[str, object]]:
    """Made-up mounts of two to four files each, by one drive after another, in local time."""
    draw = random.Random(11)
    began_at = datetime(1998, 8, 3)
    mounts = []
    for number in range(count):
        began_at += timedelta(minutes=draw.randrange(30, 400))
        mounts.append(
            {
                "began_at": began_at,
                "vsn": f"D{int(draw.expovariate(0.2)):05}",
                "drive": f"d3-0{number % 3}",
                "task": draw.choice(["stage", "migration"]),
                "queue_s": draw.randrange(5, 90),
                "mount_s": draw.randrange(40, 900),
                "files": [
                    {
                        "transfer_s": draw.randrange(1, 200),
                        "size_bytes": draw.randrange(10**6, 10**9),
                        "is_failed": draw.random() < 0.2,
                    }
                    for _ in range(draw.randrange(2, 5))
                ],
                "lazy_wait_s": draw.randrange(10, 300),
                "dismount_s": draw.randrange(10, 60),
            }
        )
    return mounts


def write_lines(mounts: list[dict[str, object]]) -> str:
    return "".join(line for number, mount in enumerate(mounts) for line in write_mount(number, mount))


def write_mount(number: int, mount: dict[str, object]) -> Iterator[str]:
    at, drive, files = mount["began_at"], mount["drive"], mount["files"]

    def write(what: str, file: str, unit: str = "-", size: int = 0, rc: int = 0) -> str:
        where = f"location=silo1 copy=1 frag=- vsn={mount['vsn']} type=D3 unit={unit} block=-"
        return f"{at:%Y-%m-%d %H:%M:%S}.000 {what} {file} {where} size={size} rc={rc}\n"

    for order, file in enumerate(files):
        about = f"op={WORDS[mount['task']]} by=client cap=4f21.{10 * number + order:06} family=7"
        size = file["size_bytes"]
        yield write("tapesrvr received", about, size=size)
        if order == 0:
            at += timedelta(seconds=mount["queue_s"])
            yield write("tapesrvr mount", about, size=size)
            at += timedelta(seconds=mount["mount_s"])
        yield write("tapesrvr positioned", about, drive, size)
        at += timedelta(seconds=file["transfer_s"])
        yield write("tapesrvr complete", about, drive, size, FAILED_RC if file["is_failed"] else 0)
    at += timedelta(seconds=mount["lazy_wait_s"])
    yield write("pdmsrvr dismount", "op=- by=- cap=- family=-", drive)
    at += timedelta(seconds=mount["dismount_s"])
    yield write("pdmsrvr dismounted", "op=- by=- cap=- family=-", drive)


def place(values, ratio):
    """The least value that this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[math.ceil(ratio * len(ordered)) - 1]


@pytest.fixture(scope="module")
def mounts():
    return make_mounts()


@pytest.fixture(scope="module")
def document(mounts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tapes")
    (folder / "tapes.log").write_text(write_lines(mounts))
    options = ["--json", "--format", "unitree-tape", "--timezone", "America/Los_Angeles"]
    done = run_command(["--home", str(folder / "home"), "report", *options, "tapes.log"], cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def count_files(mounts):
    """The files, those that failed, and the bytes of the others."""
    files = [file for mount in mounts for file in mount["files"]]
    return {
        "file_count": len(files),
        "failed_count": sum(file["is_failed"] for file in files),
        "size_bytes": sum(file["size_bytes"] for file in files if not file["is_failed"]),
    }


@pytest.mark.study("sql", "tapewise/report")
def test_steps_of_mounts(document, mounts):
    times = {
        "queue": [mount["queue_s"] for mount in mounts],
        "mount and position": [mount["mount_s"] for mount in mounts],
        "transfer": [sum(file["transfer_s"] for file in mount["files"]) for mount in mounts],
        "lazy wait": [mount["lazy_wait_s"] for mount in mounts],
        "dismount": [mount["dismount_s"] for mount in mounts],
    }
    assert document["mount_steps"] == [
        {
            "step": step,
            "mount_count": len(mounts),
            **{f"p{percent}_s": place(values, percent / 100) for percent in (50, 95, 99)},
            "max_s": max(values),
        }
        for step, values in times.items()
    ]
    [sentence] = [each["sentence"] for each in document["findings"] if each["section"] == "mount_steps"]
    assert sentence.startswith("The median mount took ") and sentence.endswith(" min or longer")


def test_use_of_drives(document, mounts):
    rows = []
    for task in ("stage", "migration"):
        found = [mount for mount in mounts if mount["task"] == task]
        files = count_files(found)
        reading_s = sum(file["transfer_s"] for mount in found for file in mount["files"])
        times = ("mount_s", "lazy_wait_s", "dismount_s")
        occupied_s = reading_s + sum(mount[name] for mount in found for name in times)
        rows.append(
            {
                **{"tape_type": "D3", "requester": "client", "task": task, "mount_count": len(found)},
                **{"file_count": files["file_count"], "size_bytes": files["size_bytes"]},
                **{"occupied_s": occupied_s, "transferring_s": reading_s},
                "lazy_wait_s": sum(mount["lazy_wait_s"] for mount in found),
            }
        )
    rows.sort(key=lambda row: -row["occupied_s"])
    ratios = [row.pop("occupied_ratio") for row in document["drive_use"]]
    all_s = sum(row["occupied_s"] for row in rows)
    assert document["drive_use"] == rows
    assert ratios == pytest.approx([row["occupied_s"] / all_s for row in rows])


def test_recalls(document, mounts):
    """All files of a mount but the first are asked for when the tape is at them; failed ones have no time."""
    times = []
    for mount in mounts:
        for order, file in enumerate(mount["files"]):
            if mount["task"] == "stage" and not file["is_failed"]:
                before_s = 0 if order else mount["queue_s"] + mount["mount_s"]
                times.append(before_s + file["transfer_s"])
    files = [file for mount in mounts if mount["task"] == "stage" for file in mount["files"]]
    expected = {
        **{"evidence": "tape operation", "recall_count": len(files), "timed_count": len(times)},
        **{"unfinished_count": 0, "failed_count": len(files) - len(times)},
        **{f"p{percent}_s": place(times, percent / 100) for percent in (50, 95, 99)},
    }
    assert document["recalls"] == [
        {"counted_per": counted_per, **expected} for counted_per in ("stage", "request")
    ]


def test_hours_of_mounts_are_local(document, mounts):
    by_hour = defaultdict(list)
    for mount in mounts:
        requested_at = mount["began_at"] + timedelta(seconds=mount["queue_s"])
        by_hour[f"{requested_at:%H}:00"].append(mount)
    expected = [
        {"hour": hour, "mount_count": len(found), "mount_ratio": pytest.approx(len(found) / len(mounts))}
        | {name: value for name, value in count_files(found).items() if name != "failed_count"}
        for hour, found in sorted(by_hour.items(), key=lambda each: (-len(each[1]), each[0]))
    ]
    assert document["mount_hours"] == expected[:5]


def test_volumes_with_the_most_mounts(document, mounts):
    counts = Counter(mount["vsn"] for mount in mounts)
    names = sorted(counts, key=lambda name: (-counts[name], name))[:10]
    assert document["volumes"] == [
        {
            **{"vsn": name, "tape_type": "D3", "mount_count": counts[name]},
            "mount_ratio": pytest.approx(counts[name] / len(mounts)),
            **count_files([mount for mount in mounts if mount["vsn"] == name]),
        }
        for name in names
    ]


def test_files_on_tape(document, mounts):
    rows = []
    for task in ("stage", "migration"):
        found = [mount for mount in mounts if mount["task"] == task]
        files = [file for mount in found for file in mount["files"]]
        # The others are asked for when the tape is at them.
        waits = [mount["queue_s"] + mount["mount_s"] for mount in found]
        waits += [0] * (len(files) - len(found))
        times = [file["transfer_s"] for file in files]
        rates = [file["size_bytes"] / file["transfer_s"] for file in files if not file["is_failed"]]
        rows.append(
            {
                **{"task": task, "requester": "client"},
                **count_files(found),
                **{"waited_p50_s": place(waits, 0.5), "waited_p95_s": place(waits, 0.95)},
                **{"transfer_p50_s": place(times, 0.5), "transfer_p95_s": place(times, 0.95)},
                "rate_p50_bytes_per_s": pytest.approx(place(rates, 0.5)),
            }
        )
    assert document["tape_operations"] == rows
