"""Make the example logs: two weeks of an archive that does not exist.

    python examples/generate.py --seed 1998 --into examples/logs

writes the committed files again, byte for byte. The flow: `workload` plans who asks for what,
`archive` decides how long it takes, `writers` turn records into lines, `damage` breaks a few of
them, `truth` counts. It shares no code with the readers that it is meant to test.
"""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

from archive import serve
from chance import Chance
from damage import damage
from truth import truth
from workload import plan
from writers import Line, as_written, hsi_lines, nft_lines, pftp_lines


def make_logs(seed: int) -> tuple[dict[str, list[Line]], dict[str, Any]]:
    """Make the lines of each log, by file name, and the truth about them."""
    records = serve(plan(seed), seed)
    of_nft = [record for record in records if record.batch.interface in ("nft", "ftp")]
    of_pftp = [record for record in records if record.batch.interface == "pftp"]
    of_hsi = [record for record in records if record.batch.interface in ("hsi", "htar")]
    logs = {
        "nft.log": as_written(nft_lines(of_nft, Chance(seed, "writer nft"))),
        "pftp.log.gz": as_written(pftp_lines(of_pftp)),
        "hsi.log": as_written(hsi_lines(of_hsi, Chance(seed, "writer hsi"))),
    }
    for name, lines in logs.items():
        log = name.split(".")[0]
        logs[name] = damage(lines, log, Chance(seed, f"damage {log}"))
    return logs, truth(logs, seed)


def write_logs(seed: int, folder: Path) -> None:
    """Write the logs and `truth.json` into the folder, over what is there."""
    logs, true_facts = make_logs(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in logs.items():
        content = b"".join(line.text + b"\n" for line in lines)
        path = folder / name
        if path.suffix == ".gz":
            # No name and no time of writing in the header: the same bytes every time.
            with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
                packed.write(content)
        else:
            path.write_bytes(content)
    (folder / "truth.json").write_bytes(json.dumps(true_facts, indent=1).encode() + b"\n")


def main() -> None:
    """Read the arguments and write the files."""
    parser = argparse.ArgumentParser(description="Make the example logs; all of it is made up.")
    parser.add_argument("--seed", type=int, required=True, help="the committed files have 1998")
    parser.add_argument("--into", type=Path, required=True, help="folder to write into")
    arguments = parser.parse_args()
    write_logs(arguments.seed, arguments.into)


if __name__ == "__main__":
    main()
