"""Studies run when their code has changed. Otherwise they take turns, so each runs now and then."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests import studies


class Item:
    """A test as `skip_studies` sees it."""

    def __init__(self, nodeid: str, *code: str, **options: bool) -> None:
        self.nodeid = nodeid
        self._mark = pytest.mark.study(*code, **options).mark if code else None
        self.is_skipped = False

    def get_closest_marker(self, name: str) -> Any:
        return self._mark if name == "study" else None

    def add_marker(self, mark: Any) -> None:
        assert mark.name == "skip"
        self.is_skipped = True


def find_running(
    monkeypatch: pytest.MonkeyPatch,
    commit: str | None,
    changed: Sequence[str],
    items: list[Any],
    one_in: int = 3,
) -> set[str]:
    monkeypatch.setattr(studies, "ONE_IN", one_in)  # whatever TAPEWISE_TEST_STUDIES_ONE_IN is
    monkeypatch.setattr(studies, "ask_git", lambda *_: commit)
    monkeypatch.setattr(studies, "list_changed", lambda: list(changed))
    studies.skip_studies(items)
    return {item.nodeid for item in items if not item.is_skipped}


def make_items() -> list[Any]:
    return [Item(f"tests/a.py::test_{number}", "sql/cache") for number in range(60)] + [Item("tests/b.py::x")]


@pytest.mark.parametrize("changed", ["sql/cache/cache_hits/view.sql", "sql/cache", "tests/a.py"])
def test_all_studies_of_changed_code_run(monkeypatch: pytest.MonkeyPatch, changed: str) -> None:
    assert len(find_running(monkeypatch, "1", [changed], make_items())) == 61


def test_every_third_of_the_others_runs_from_a_place_that_depends_on_the_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [find_running(monkeypatch, str(n), ["sql/cached/x", "sql/tape"], make_items()) for n in range(30)]
    thirds = [{f"tests/a.py::test_{number}" for number in range(begin, 60, 3)} for begin in range(3)]
    assert all(run - {"tests/b.py::x"} in thirds and "tests/b.py::x" in run for run in runs)
    assert set.union(*runs) == {item.nodeid for item in make_items()}


def test_without_git_or_when_asked_for_all_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(find_running(monkeypatch, None, [], make_items())) == 61
    assert len(find_running(monkeypatch, "1", [], make_items(), one_in=1)) == 61


def test_studies_that_share_a_fixture_run_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> list[Any]:
        return [Item(f"tests/c.py::test_{number}", "sql/cache", together=True) for number in range(9)]

    counts = {len(find_running(monkeypatch, str(n), [], make())) for n in range(30)}
    assert counts == {0, 9}


def test_on_the_second_version_every_test_is_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> list[Any]:
        return [Item(f"tests/c.py::test_{number}") for number in range(60)]

    monkeypatch.setattr(studies, "IS_REPEATED", True)
    assert len(find_running(monkeypatch, "1", [], make())) == 20
    assert len(find_running(monkeypatch, "1", ["sql/tape/recalls/view.sql"], make())) == 60


def test_a_study_of_what_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match=r"tests/d.py::x is a study of \['sql/cash'\]"):
        find_running(monkeypatch, "1", [], [Item("tests/d.py::x", "sql/cash")])
