"""Makes up the logs of the kill study: two sources whose files overlap, grow and are recompressed.

A world is released in waves. Each wave adds lines to the logs, and files that contain these lines. The facts
to expect are counted from the lines alone, without using any of Tapewise's code.
"""

import bz2
import gzip
import random
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from pathlib import Path

BEGIN = datetime(2004, 1, 20)
LINES_A_WAVE = 4500  # in each log
WAVE_STEP = timedelta(days=12)
BROKEN = (b"broken \xff\x00 line", b"broken: 12", b"")
IGNORED_MARK = b" kw "  # transfers between machines other than the archive


def make_line(draw: random.Random, log_format: str, at: datetime) -> bytes:
    size, user = draw.randrange(1, 1 << 33), draw.randrange(1, 9)
    ctime = f"{at:%a %b %e %H:%M:%S %Y}"
    host, path = (
        f"n{user % 7}.example.org",
        f"/home/u{user}/{draw.randrange(4)}",
    )  # few enough paths for opens to find their transfers
    match log_format:
        case "nft":
            way = draw.choice(("ks", "ks", "sk", "ws", "sw", "ss", "kw"))
            return f"{user:06} {at:%y/%m/%d %H:%M:%S} {way} {size} {size % 9000}.25".encode()
        case "pftp" if draw.random() < 0.4:
            return f"{ctime} {host} {path} b POPN_Cmd r r ftp u{user} fd 0".encode()
        case "pftp":
            what = draw.choice(("i PSTO_Cmd", "o PRTR_Cmd"))
            return f"{ctime} {size % 90}.480 {host} {size} {path} b {what} r ftp u{user} fd 0".encode()
    operation = draw.choice(("LH", "HL", "HH"))
    numbers = f"{operation}\t0\t0.03\t{size}\t{size % 90000}.4\t4"
    return f"{ctime} {host} hsi {user} 2211\t{numbers}\t/tmp/a{user}\t{path}\tm12".encode()


def fate(line: bytes) -> str:
    if not line.strip():
        return "ignored"
    if line.startswith(b"broken"):
        return "rejected"
    return "ignored" if IGNORED_MARK in line else "fact"


class World:
    """The logs of one seed in `folder`. `contents` has the complete lines of every file that ever existed."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.formats = ("nft", ("pftp", "hsi")[seed % 2])
        self.contents: dict[Path, list[bytes]] = {}
        self._draw = random.Random(f"world {seed}")
        self._folder = folder
        self._wave_count = 0
        self._logs: dict[str, list[bytes]] = {name: [] for name in self.formats}

    def release(self) -> list[Path]:
        """Add the next wave; return the files that are new, grew or were recompressed."""
        wave = self._wave_count
        self._wave_count += 1
        paths: list[Path] = []
        for name, log in self._logs.items():
            fresh = self._make_lines(name, wave)
            # A wave's first new file begins with the last lines of the previous wave.
            overlap = log[-LINES_A_WAVE // 8 :] if log else []
            log.extend(fresh)
            one, other = self._draw.randrange(1000, 2000), self._draw.randrange(2500, 4000)
            growing = self._folder / f"{name}.log"
            paths += [
                self._write(growing, log, unfinished=fresh[0][: self._draw.randrange(9)]),
                self._write(self._folder / f"{name}.{wave}.a.log", overlap + fresh[:other]),
                self._write(self._folder / f"{name}.{wave}.b.log.gz", fresh[one:]),
            ]
            before = self._folder / f"{name}.{wave - 1}.a.log"
            if before.exists():  # as logrotate does
                paths.append(self._write(before.with_suffix(".log.bz2"), self.contents[before]))
                before.unlink()
        return paths

    def _make_lines(self, name: str, wave: int) -> list[bytes]:
        draw, begin = self._draw, BEGIN + wave * WAVE_STEP
        lines: list[bytes] = []
        for index in range(LINES_A_WAVE):
            chance = draw.random()
            if lines and chance < 0.03:
                lines.append(draw.choice(lines[-50:]))  # a genuine repeat
            elif chance < 0.032:
                lines.append(draw.choice(BROKEN))
            else:
                late = timedelta(days=draw.randrange(30)) if chance < 0.04 else timedelta()
                lines.append(make_line(draw, name, begin + timedelta(seconds=40 * index) - late))
        return lines

    def _write(self, path: Path, lines: Sequence[bytes], unfinished: bytes = b"") -> Path:
        content = b"".join(line + b"\n" for line in lines) + unfinished
        compress = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
        path.write_bytes(compress(content))
        self.contents[path] = list(lines)
        return path

    def count_facts(self) -> Counter[bytes]:
        """Count each source's facts. A line found n times in one file and m in another counts max(n, m)."""
        total: Counter[bytes] = Counter()
        for name in self.formats:
            of_source = [
                Counter(lines) for path, lines in self.contents.items() if path.name.startswith(name)
            ]
            total += reduce(or_, of_source)
        return Counter({line: count for line, count in total.items() if fate(line) == "fact"})

    def count_fates(self) -> dict[str, tuple[int, int, int, int]]:
        """Count every file's lines, facts, ignored lines and rejected lines."""
        counts = {}
        for path, lines in self.contents.items():
            fates = Counter(map(fate, lines))
            counts[str(path)] = (len(lines), fates["fact"], fates["ignored"], fates["rejected"])
        return counts
