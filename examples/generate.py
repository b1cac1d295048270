"""Make the example logs: two weeks of an archive that does not exist.

    python -m tapewise.examples.generate --seed 1998 --into examples/logs

reproduces the committed files, byte for byte. In this order, `workload` plans who asks for what, `archive`
decides how long it takes, `unitree` works out what came before each NFT or FTP transfer, `writers` turns
records into lines, `damage` breaks a few of them, and `truth` and `links` collect what is true of them. The
generator shares no code with the readers that it is meant to test.
"""

import argparse
import csv
import gzip
import json
from pathlib import Path
from typing import Any

from tapewise.examples.archive import serve
from tapewise.examples.chance import Chance
from tapewise.examples.damage import damage
from tapewise.examples.links import Link, find_links
from tapewise.examples.truth import truth
from tapewise.examples.unitree import UniTree, run_unitree
from tapewise.examples.unitree_truth import unitree_truth
from tapewise.examples.workload import plan
from tapewise.examples.writers import (
    Line,
    as_written,
    by_day,
    cond_lines,
    hsi_lines,
    nft_lines,
    pftp_lines,
    stat_lines,
)


def make_logs(
    seed: int, *, is_unitree_left_out: bool = False
) -> tuple[dict[str, list[Line]], UniTree | None]:
    """Make the lines of each log, by file name, and UniTree's jobs."""
    records = serve(plan(seed), seed)
    of_nft = [record for record in records if record.batch.interface in ("nft", "ftp")]
    of_pftp = [record for record in records if record.batch.interface == "pftp"]
    of_hsi = [record for record in records if record.batch.interface in ("hsi", "htar")]
    tree = None if is_unitree_left_out else run_unitree(of_nft, seed)
    logs = {
        "nft.log": as_written(nft_lines(of_nft, Chance(seed, "writer nft"))),
        "pftp.log.gz": as_written(pftp_lines(of_pftp)),
        "hsi.log": as_written(hsi_lines(of_hsi, Chance(seed, "writer hsi"))),
    }
    if tree is not None:
        logs |= {"cond": as_written(cond_lines(tree)), "stat.log.gz": as_written(stat_lines(tree))}
    for name, lines in logs.items():
        log = name.split(".")[0]
        logs[name] = damage(lines, log, Chance(seed, f"damage {log}"))
    # COND has one file per day.
    logs |= {f"cond.{day}.gz": lines for day, lines in by_day(logs.pop("cond", [])).items()}
    return logs, tree


def collect_truth(
    logs: dict[str, list[Line]], tree: UniTree | None, links: list[Link], seed: int
) -> dict[str, Any]:
    """Collect everything that is true of the logs, for `truth.json`."""
    of_unitree = {name: lines for name, lines in logs.items() if name.startswith(("cond", "stat"))}
    others = {name: lines for name, lines in logs.items() if name not in of_unitree}
    facts = truth(others, seed)
    if tree is None:
        return facts
    of_files, of_all = unitree_truth(of_unitree, tree, links)
    facts["files"] |= of_files
    return {**facts, "unitree": of_all}


def write_logs(
    seed: int, folder: Path, links_path: Path | None = None, *, is_unitree_left_out: bool = False
) -> None:
    """Write the logs and `truth.json` into `folder`, and the links to `links_path`, if given.

    Existing files are replaced.
    """
    logs, tree = make_logs(seed, is_unitree_left_out=is_unitree_left_out)
    links = [] if tree is None else find_links(logs, tree)
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in logs.items():
        content = b"".join(line.text + b"\n" for line in lines)
        path = folder / name
        if path.suffix == ".gz":
            # The header contains no name and no time, so the bytes are the same every time.
            with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
                packed.write(content)
        else:
            path.write_bytes(content)
    true_facts = collect_truth(logs, tree, links, seed)
    (folder / "truth.json").write_bytes(json.dumps(true_facts, indent=1).encode() + b"\n")
    if links_path is not None:
        with links_path.open("w", newline="", encoding="ascii") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Link.COLUMNS)
            writer.writerows(link.to_row() for link in links)


def main() -> None:
    """Read the arguments and write the files."""
    parser = argparse.ArgumentParser(description="Make the example logs; all of it is made up.")
    parser.add_argument("--seed", type=int, required=True, help="the committed files were made with 1998")
    parser.add_argument("--into", type=Path, required=True, help="folder to write into")
    parser.add_argument("--links", type=Path, help="CSV file to write: which lines report the same request")
    parser.add_argument(
        "--without-unitree",
        action="store_true",
        help="omit COND and STAT: a third faster, the rest is the same",
    )
    arguments = parser.parse_args()
    write_logs(
        arguments.seed,
        arguments.into,
        arguments.links,
        is_unitree_left_out=arguments.without_unitree,
    )


if __name__ == "__main__":
    main()
