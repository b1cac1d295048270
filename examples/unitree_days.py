"""Make a few days of UniTree at a site that does not exist: puts, gets, and what the tape servers write.

    python -m tapewise.examples.unitree_days --seed 7 --days 7 --into /tmp/unitree

writes `client.log` (format `unitree-client`), `tape.log` (`unitree-tape`) and `truth.json`, which says for
each put when each of its copies was on tape. Every hour, a server writes to tape what was put at least ten
minutes before; second copies are written every four hours. Users put some files again under the same name,
get files that they used lately, and get old ones.
"""

import argparse
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tapewise.examples.chance import Chance

FIRST_DAY = datetime(1996, 2, 12)
_DAY_S = 86_400.0
_KEPT_ON_DISK_S = 2 * _DAY_S  # after the last use
_REST_S = 600.0  # before a file is written to tape
_EVERY_S = {1: 3600.0, 2: 4 * 3600.0}  # how often first and second copies are written
_USERS = ("2718", "2719", "31", "442", "5077")


@dataclass(slots=True)
class PutFile:
    """A file that was put, and what happened to it. Times are seconds since the first midnight."""

    capability: str
    path: str
    user: str
    family: str
    copy_count: int
    size_bytes: int
    put_s: float
    used_s: float
    copies_s: dict[int, float] = field(default_factory=dict)
    replaced_s: float | None = None


class Site:
    """Puts, gets and writes to tape for some days."""

    def __init__(self, seed: int, day_count: int) -> None:
        """Take the seed and the length."""
        self._chance = Chance(seed, "unitree days")
        self._end_s = day_count * _DAY_S
        self.client: list[tuple[float, str]] = []
        self.tape: list[tuple[float, str]] = []
        self.files: list[PutFile] = []
        self._old: dict[int, PutFile] = {}

    def run(self) -> None:
        """Move the files, and then write to tape what was put."""
        now_s = 0.0
        while (now_s := now_s + self._chance.exponential(220.0)) < self._end_s:
            if self._chance.happens(0.45):
                self._put(now_s)
            else:
                self._get(now_s)
        for copy_number, every_s in _EVERY_S.items():
            self._write_copies(copy_number, every_s)

    def _put(self, start_s: float) -> None:
        draw = self._chance
        old = [each for each in self.files[-300:] if each.replaced_s is None]
        again = draw.pick(old) if old and draw.happens(0.08) else None
        family = again.family if again else draw.pick(("3", "7", "7"))
        size_bytes = int(draw.lognormal(20e6, 1.8))
        end_s = start_s + 0.5 + size_bytes / 4e6
        made = PutFile(
            capability=f"{0x4000 + len(self.files):x}.0007",
            path=again.path if again else f"/home/run {len(self.files)}/out.tar",
            user=again.user if again else draw.pick(_USERS),
            family=family,
            copy_count=2 if family == "3" else 1,
            size_bytes=size_bytes,
            put_s=end_s,
            used_s=end_s,
        )
        if again and end_s >= again.used_s:
            again.replaced_s = end_s
        elif again:
            made.path += ".new"
        self._write_client(start_s, f"start op=STOR cache=- {self._of_file(made)}")
        self._write_client(end_s, f"end op=STOR disk_s={end_s - start_s:.3f} rc=0 {self._of_file(made)}")
        if end_s < self._end_s:
            self.files.append(made)

    def _get(self, start_s: float) -> None:
        draw = self._chance
        known = [each for each in self.files if each.replaced_s is None and each.used_s < start_s]
        if known and draw.happens(0.7):
            file = draw.pick(known[-60:]) if draw.happens(0.8) else draw.pick(known)
        else:
            file = self._find_old(int(draw.exponential(300.0)))
            if file.used_s >= start_s:
                return
        is_hit = start_s - file.used_s < _KEPT_ON_DISK_S
        tape_s = 0.0 if is_hit else 40.0 + draw.exponential(90.0)
        end_s = start_s + tape_s + 0.5 + file.size_bytes / 4e6
        cache = "hit" if is_hit else "miss"
        self._write_client(start_s, f"start op=RETR cache={cache} {self._of_file(file)}")
        if not is_hit:
            self._write_client(start_s + tape_s, f"stage op=RETR tape_s={tape_s:.3f} {self._of_file(file)}")
        disk_s = end_s - start_s - tape_s
        self._write_client(end_s, f"end op=RETR disk_s={disk_s:.3f} rc=0 {self._of_file(file)}")
        file.used_s = end_s

    def _find_old(self, number: int) -> PutFile:
        size_bytes = 10_000_000 + 1_000_003 * (number % 90)
        made = PutFile(
            f"{number:x}.0001", f"/old/{number}.dat", "31", "7", 1, size_bytes, -3 * _DAY_S, -3 * _DAY_S
        )
        return self._old.setdefault(number, made)

    def _write_copies(self, copy_number: int, every_s: float) -> None:
        draw = self._chance
        waiting = [each for each in self.files if each.copy_count >= copy_number]
        run_s = every_s
        while run_s < self._end_s:
            now_s = run_s + draw.uniform(20.0, 90.0)
            left = []
            for file in waiting:
                if file.replaced_s is not None and file.replaced_s <= now_s:
                    continue
                if file.put_s + _REST_S > run_s:
                    left.append(file)
                    continue
                now_s += 0.3 + file.size_bytes / 9e6
                if file.replaced_s is not None and file.replaced_s <= now_s:
                    continue
                is_failed = draw.happens(0.02)
                self._write_tape(now_s, file, copy_number, is_failed=is_failed)
                if is_failed:
                    left.append(file)
                elif now_s < self._end_s:
                    file.copies_s[copy_number] = now_s
            waiting = left
            run_s += every_s

    def _of_file(self, file: PutFile) -> str:
        return (
            f"cap={file.capability} uid={file.user} gid=310 family={file.family} copies={file.copy_count}"
            f" host=w{int(file.user) % 4} net=fddi size={file.size_bytes} path={file.path}"
        )

    def _write_client(self, at_s: float, text: str) -> None:
        self.client.append((at_s, f"{_stamp(at_s)} uftpd {text}"))

    def _write_tape(self, at_s: float, file: PutFile, copy_number: int, *, is_failed: bool) -> None:
        self.tape.append(
            (
                at_s,
                f"{_stamp(at_s)} tapesrvr complete op=mig by=client cap={file.capability}"
                f" family={file.family} location=silo1 copy={copy_number} frag=-"
                f" vsn=D3{file.family}0{copy_number} type=D3 unit=d3-0{copy_number} block=-"
                f" size={file.size_bytes} rc={5 if is_failed else 0}",
            )
        )

    def collect_truth(self) -> list[dict[str, Any]]:
        """Each put, with its times in milliseconds, as the logs round them."""
        return [
            {
                "path": each.path,
                "copy_count": each.copy_count,
                "size_bytes": each.size_bytes,
                "put_ms": _ms(each.put_s),
                "copies_ms": {str(number): _ms(at_s) for number, at_s in sorted(each.copies_s.items())},
                "replaced_ms": None if each.replaced_s is None else _ms(each.replaced_s),
            }
            for each in self.files
        ]


def _ms(seconds: float) -> int:
    """Whole milliseconds."""
    return int(seconds * 1000)


def _stamp(seconds: float) -> str:
    moment = FIRST_DAY + timedelta(milliseconds=_ms(seconds))
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}"


def write_days(seed: int, day_count: int, folder: Path) -> None:
    """Write the logs and `truth.json` into `folder`. Existing files are replaced."""
    site = Site(seed, day_count)
    site.run()
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("client", site.client), ("tape", site.tape)):
        kept = sorted(each for each in lines if each[0] < day_count * _DAY_S)
        (folder / f"{name}.log").write_text("".join(f"{text}\n" for _, text in kept), encoding="utf-8")
    truth = {"seed": seed, "first_midnight": FIRST_DAY.isoformat(), "puts": site.collect_truth()}
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Read the arguments and write the files."""
    parser = argparse.ArgumentParser(description="Make days of UniTree; all of it is made up.")
    parser.add_argument("--seed", type=int, required=True, help="another seed gives other days")
    parser.add_argument("--days", type=int, default=7, help="how many days (default: 7)")
    parser.add_argument("--into", type=Path, required=True, help="folder to write into")
    arguments = parser.parse_args()
    write_days(arguments.seed, arguments.days, arguments.into)


if __name__ == "__main__":
    main()
