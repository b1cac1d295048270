"""Finds the views and functions of `mart` that a branch touches, whose mutants are then all tried."""

import os
import subprocess
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
# A branch is compared with the first of these that exists. On the main branch, the variable can name the
# commit that was tested last.
VARIABLE = "TAPEWISE_TEST_BASE"
BASES = ("origin/main", "main")


def find_touched(tree: Path = TREE) -> set[str] | None:
    """Return the names of objects whose SQL or cases the branch has changed, or None if there are none.

    A folder or file that only moved does not count. The result is also None if there is nothing to compare
    with: no git, no main branch, or a clone of the main branch itself.
    """
    base = find_base(tree)
    if base is None:
        return None
    changed = ask_git(tree, "diff", "--name-status", "--find-renames", base, "--", "sql", "tests/sql") or ""
    untracked = ask_git(tree, "ls-files", "--others", "--exclude-standard", "--", "sql", "tests/sql") or ""
    touched = _name_objects(untracked.splitlines())
    for line in changed.splitlines():
        status, *paths = line.split("\t")  # two paths for a renamed file
        names = _name_objects(paths)
        if status != "R100" or len(names) > 1:
            touched |= names
    return touched or None


def find_base(tree: Path = TREE) -> str | None:
    """Return the commit where the branch began; None without git or a main branch."""
    for base in filter(None, (os.environ.get(VARIABLE), *BASES)):
        ours = ask_git(tree, "merge-base", base, "HEAD")
        if ours is not None:
            return ours.strip()
    return None


def _name_objects(paths: list[str]) -> set[str]:
    """Return the object names in sql/<topic>/<name>/... and tests/sql/<name>/..."""
    return {Path(path).parts[2] for path in paths if len(Path(path).parts) >= 4}


def ask_git(tree: Path, *arguments: str) -> str | None:
    """Return what git prints, or None if it fails or is missing."""
    try:
        # A git hook passes its own repository to child processes in these variables.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", *arguments], cwd=tree, env=environment, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


if __name__ == "__main__":
    # `make check` passes this expression to pytest's -k to select the cases of touched objects.
    print(
        " or ".join(name for name in sorted(find_touched() or ()) if (TREE / "tests" / "sql" / name).is_dir())
    )
