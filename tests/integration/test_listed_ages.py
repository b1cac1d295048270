"""Recounts the files of a listing (made up) by age, from its lines, unlike `mart.listed_ages`."""

import json
import random
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tapewise.ingest.loading.file_results import FileResult
from tapewise.schema.database import Role, Warehouse

Load = Callable[..., FileResult]

EDGES = [0, 2, 20]


def test_ages_of_listed_files(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    rng = random.Random(4)
    path = tmp_path / "listing.log"
    with path.open("w", encoding="utf-8") as listing:
        for listed_at in (datetime(2025, 8, 1, tzinfo=UTC), datetime(2025, 8, 2, 5, tzinfo=UTC)):
            for number in range(300):
                line: dict[str, Any] = {"listed_at": f"{listed_at:%FT%TZ}", "kind": "file"}
                line["path"] = f"/home/f{number}"
                line |= {"state": rng.choice(["disk", "tape"]), "bytes": int(rng.lognormvariate(12, 3))}
                if rng.random() < 0.9:
                    since = listed_at - timedelta(seconds=int(rng.expovariate(1 / 1e6)))
                    line["since"] = f"{since:%FT%TZ}"
                print(json.dumps(line), file=listing)
    load(path, "snapshot")

    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    last = max(line["listed_at"] for line in lines)
    expected: defaultdict[int | None, list[int]] = defaultdict(lambda: [0, 0])
    for line in lines:
        if line["listed_at"] == last and line["state"] == "disk":
            age = None
            if "since" in line:
                days = (datetime.fromisoformat(last) - datetime.fromisoformat(line["since"])).total_seconds()
                age = max(edge for edge in EDGES if edge <= days / 86400)
            expected[age][0] += 1
            expected[age][1] += line["bytes"]
    assert len(expected) == 4
    files, size_bytes = (sum(found[place] for found in expected.values()) for place in (0, 1))
    with warehouse.connect(Role.READER) as reader:
        rows = reader.execute(
            "SELECT age_from_days::integer, file_count, size_bytes, round(file_ratio::numeric, 9),"
            " round(size_ratio::numeric, 9) FROM mart.listed_ages(state => 'disk', age_days => '{2,20}')"
        ).fetchall()
    assert {row[0]: [row[1], row[2]] for row in rows} == expected
    assert all(abs(float(row[3]) - row[1] / files) < 1e-8 for row in rows)
    assert all(abs(float(row[4]) - float(row[2]) / size_bytes) < 1e-8 for row in rows)
