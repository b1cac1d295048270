"""Which views and functions of `mart` a change touches, so that all of their mutants are tried."""

import subprocess
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
# What a branch is compared with: the first of these that there is.
BASES = ("origin/main", "main")


def find_touched(tree: Path = TREE) -> set[str] | None:
    """The names of objects whose SQL or cases differ from where the branch began; None if nothing differs.

    A folder or file that only moved is not touched. None too where there is nothing to compare with: no git,
    no main branch, or a clone of the main branch itself.
    """
    for base in BASES:
        ours = _git(tree, "merge-base", base, "HEAD")
        if ours is not None:
            break
    else:
        return None
    changed = (
        _git(tree, "diff", "--name-status", "--find-renames", ours.strip(), "--", "sql", "tests/sql") or ""
    )
    untracked = _git(tree, "ls-files", "--others", "--exclude-standard", "--", "sql", "tests/sql") or ""
    paths = [Path(line.split("\t")[-1]) for line in changed.splitlines() if not line.startswith("R100\t")]
    paths += map(Path, untracked.splitlines())
    # sql/<topic>/<name>/..., tests/sql/<name>/...
    return {path.parts[2] for path in paths if len(path.parts) >= 4} or None


def _git(tree: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=tree, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


if __name__ == "__main__":
    # For `make check`: the cases of what is touched, as pytest's -k selects them.
    print(" or ".join(sorted(find_touched() or ())))
