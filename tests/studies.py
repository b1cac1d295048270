"""Chooses the studies to run: those of the code that the branch changes, and one in 32 of the others.

A study is a test that takes a second or more, or one of many that take as long together. It is marked
`@pytest.mark.study("sql/cache", ...)` with the folders and files whose code it checks. Which of them run
depends on the commit: every 32nd in the order of the files, so that each commit runs some of
each kind, and no commit takes much longer than another. `make studies` runs them all. Studies that share
a costly fixture have `together=True`: they all run, or none.
"""

import os
import zlib
from pathlib import PurePosixPath

import pytest
from _pytest.mark import ParameterSet

from tests.sql.touched import TREE, ask_git, find_base

ONE_IN = int(os.environ.get("TAPEWISE_TEST_STUDIES_ONE_IN", "32"))
# What runs on this version has run on a newer one, so all of it is a study of the code that uses the server.
IS_REPEATED = os.environ.get("TAPEWISE_TEST_POSTGRES") == "16"
OF_SERVER = pytest.mark.study("migrations", "schema", "sql", "tests/sql").mark


def with_seeds(always: int, count: int, *code: str) -> list[ParameterSet]:
    """Return the seeds 0 to `count` - 1 as parameters; from `always` on, they are studies of `code`."""
    return [
        pytest.param(seed, marks=pytest.mark.study(*code) if seed >= always else ()) for seed in range(count)
    ]


def skip_studies(items: list[pytest.Item]) -> None:
    """Mark the studies that are not due as skipped."""
    commit = ask_git(TREE, "rev-parse", "HEAD")
    if ONE_IN == 1 or commit is None:
        return
    touched = find_touched(list_changed())
    first = zlib.crc32(commit.strip().encode())
    turns: dict[str, int] = {}
    for item in items:
        mark = item.get_closest_marker("study") or (OF_SERVER if IS_REPEATED else None)
        if mark is None:
            continue
        missing = [each for each in mark.args if not (TREE / each).exists()]
        assert not missing, f"{item.nodeid} is a study of {missing}, which is not there"
        file = item.nodeid.split("::")[0]
        is_touched = not touched.isdisjoint((*mark.args, file))
        name = file if mark.kwargs.get("together") else item.nodeid
        turn = turns.setdefault(name, first + len(turns))
        if not is_touched and turn % ONE_IN:
            reason = f"a study of code that has not changed: one in {ONE_IN} runs, `make studies` runs all"
            # Its result changes only with the code that it checks, so it can wait for its turn.
            item.add_marker(pytest.mark.skip(reason=reason))


def find_touched(changed: list[str]) -> set[str]:
    """Return the files that have changed, and all folders that contain one."""
    return {str(each) for path in changed for each in (PurePosixPath(path), *PurePosixPath(path).parents)}


def list_changed() -> list[str]:
    """Return the files that have changed since the branch began, including new ones."""
    base = find_base()
    if base is None:
        return []
    changed = ask_git(TREE, "diff", "--name-only", base) or ""
    untracked = ask_git(TREE, "ls-files", "--others", "--exclude-standard") or ""
    return (changed + untracked).splitlines()
