"""`python -m tests.prose [PATH ...]`: find words of `words.toml` in the project's prose.

Prints `file:line: what was written -> what to write` for each word found, and exits with 1 if there is one.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.prose.texts import find_texts

ROOT = Path(__file__).resolve().parents[2]
RULES = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


def compile_words(words: dict[str, str]) -> list[tuple[re.Pattern[str], str]]:
    """Return each pattern with what to write instead; a blank in a pattern matches any white space."""
    return [
        (re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE | re.MULTILINE), instead)
        for pattern, instead in words.items()
    ]


def list_files(paths: Sequence[str], left_out: Sequence[str]) -> list[Path]:
    """Return the files below `paths` (or all files), including new ones, without those below `left_out`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *(paths or ["."])]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = {name for name in listed.stdout.split("\0") if name}
    kept = (ROOT / name for name in names if not any(Path(name).is_relative_to(each) for each in left_out))
    return sorted(path for path in kept if path.is_file() and not path.is_symlink())


def find_words(path: Path, words: Sequence[tuple[re.Pattern[str], str]]) -> Iterator[str]:
    """Yield a line for each hit in a file."""
    for line, text in find_texts(path):
        for pattern, instead in words:
            for match in pattern.finditer(text):
                number = line + text.count("\n", 0, match.start())
                around = " ".join(text[max(0, match.start() - 40) : match.end() + 30].split())
                written = " ".join(match[0].split())
                yield f"{path.relative_to(ROOT)}:{number}: {written!r} -> {instead}   ({around})"


def main(paths: Sequence[str]) -> int:
    """Print the hits below `paths` and their number; return the exit status."""
    words = compile_words(RULES["words"])
    hits = [hit for path in list_files(paths, RULES["files"]["left_out"]) for hit in find_words(path, words)]
    for hit in hits:
        print(hit)
    print(f"prose: {len(hits)} words to avoid")
    return min(len(hits), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
