"""Make a few days of logs of sites that do not exist: CTA in each of its forms, and SAM-QFS, with the truth.

    python -m tapewise.examples.tape_days --seed 7 --days 3 --into /tmp/tapes

writes a folder for each form of CTA's log, with a file for each host, the folder `samqfs`, and `truth.json`.
In this order, `cta_site` plans who asks for what, `cta_days` and `cta_sessions` simulate the drives,
`cta_lines` writes what they report, and `cta_truth` counts what happened; `samqfs` does all of this for the
other system. The generator shares no code with the readers that it is meant to test.
"""

import argparse
import json
from datetime import date, timedelta
from pathlib import Path

from tapewise.examples.cta_days import live
from tapewise.examples.cta_lines import FORMS
from tapewise.examples.cta_site import FIRST_DAY
from tapewise.examples.cta_truth import collect_truth
from tapewise.examples.samqfs import FileSystem


def write_days(seed: int, day_count: int, folder: Path) -> None:
    """Write the logs and `truth.json` into `folder`. Existing files are replaced."""
    days = live(seed, day_count)
    events = sorted(days.events, key=lambda event: event.at_ns)
    last_day = date.fromisoformat(FIRST_DAY) + timedelta(days=day_count)
    for form, write_line in FORMS.items():
        (folder / f"cta-{form}").mkdir(parents=True, exist_ok=True)
        for host in sorted({event.host for event in events}):
            text = "".join(f"{write_line(event)}\n" for event in events if event.host == host)
            # Lines in the text form have no year, so it comes from the name.
            (folder / f"cta-{form}" / f"{host}.{last_day:%Y%m%d}.log").write_text(text, encoding="utf-8")
    files = FileSystem(seed, day_count)
    files.run()
    (folder / "samqfs").mkdir(exist_ok=True)
    for name, lines in (("archiver", files.archiver), ("stager", files.stager)):
        text = "".join(f"{line.text}\n" for line in lines)
        (folder / "samqfs" / f"{name}.log").write_text(text, encoding="utf-8")
    facts = {"seed": seed, "cta": collect_truth(days), "samqfs": files.collect_truth()}
    (folder / "truth.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Read the arguments and write the files."""
    parser = argparse.ArgumentParser(description="Make days of CTA and SAM-QFS; all of it is made up.")
    parser.add_argument("--seed", type=int, required=True, help="another seed gives other days")
    parser.add_argument("--days", type=int, default=3, help="how many days (default: 3)")
    parser.add_argument("--into", type=Path, required=True, help="folder to write into")
    arguments = parser.parse_args()
    write_days(arguments.seed, arguments.days, arguments.into)


if __name__ == "__main__":
    main()
