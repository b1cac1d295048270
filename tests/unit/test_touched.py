"""Which objects of `mart` a branch touches, tested in small repositories."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.sql.touched import VARIABLE, find_touched


def git(tree: Path, *arguments: str) -> None:
    who = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    # A git hook passes its own repository to the processes that it starts.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *who, *arguments], cwd=tree, env=environment, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a branch of a repository with a view, a function, and a test case for the function."""
    for name in ("sql/facts/opens/view.sql", "sql/cache/hits/function.sql", "tests/sql/hits/none.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(f"SELECT '{name}'\n" * 10)
    git(tmp_path, "init", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-m", "Begin")
    git(tmp_path, "checkout", "-b", "branch")
    return tmp_path


def test_nothing_is_touched_where_a_branch_begins(tree: Path):
    assert find_touched(tree) is None
    (tree / "README.md").write_text("Something else.\n")
    git(tree, "add", "-A")
    git(tree, "commit", "-m", "Write about it")
    assert find_touched(tree) is None


def test_what_differs_is_touched_whether_committed_or_not(tree: Path):
    (tree / "sql/facts/opens/view.sql").write_text("SELECT 1\n")
    git(tree, "commit", "-am", "Change a view")
    assert find_touched(tree) == {"opens"}
    case = tree / "tests/sql/hits/one.yaml"
    case.write_text("query: SELECT 2\n")
    assert find_touched(tree) == {"opens", "hits"}


def test_the_main_branch_is_compared_with_the_named_commit(tree: Path, monkeypatch: pytest.MonkeyPatch):
    git(tree, "checkout", "main")
    (tree / "sql/facts/opens/view.sql").write_text("SELECT 1\n")
    git(tree, "commit", "-am", "Change a view")
    assert find_touched(tree) is None
    monkeypatch.setenv(VARIABLE, "HEAD~1")
    assert find_touched(tree) == {"opens"}


def test_a_folder_that_only_moved_is_not_touched(tree: Path):
    git(tree, "mv", "sql/cache/hits", "sql/facts/hits")
    git(tree, "commit", "-m", "Move a view")
    assert find_touched(tree) is None


def test_both_are_touched_if_a_case_moves_from_one_to_the_other(tree: Path):
    git(tree, "mv", "tests/sql/hits", "tests/sql/opens")
    git(tree, "commit", "-m", "Move a case")
    assert find_touched(tree) == {"hits", "opens"}


def test_without_a_main_branch_nothing_is_known(tree: Path, tmp_path_factory: pytest.TempPathFactory):
    git(tree, "branch", "-D", "main")
    assert find_touched(tree) is None
    assert find_touched(tmp_path_factory.mktemp("no repository")) is None
