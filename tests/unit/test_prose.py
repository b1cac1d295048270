"""The check of `tests/prose` finds words to avoid wherever people read them, and nowhere else."""

from pathlib import Path

import pytest

from tests.prose.__main__ import ROOT, RULES, compile_words, find_words, list_files, main
from tests.prose.texts import find_texts

WORDS = compile_words(RULES["words"])


def read(path: Path, content: str) -> list[tuple[int, str]]:
    path.write_text(content)
    return [
        (line, match[0])
        for line, text in find_texts(path)
        for pattern, _ in WORDS
        for match in pattern.finditer(text)
    ]


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.md", "One line.\n\nA log tells it.\n", [(3, "tells")]),
        ("a.md", "Requests are put\ntogether here.\n", [(1, "put\ntogether")]),
        ("a.md", "`told` is a column.\n\n```\nit tells\n```\n\n    it tells\n", []),
        ("a.md", "The name tells logs apart. It stands for a day.\n", []),
        ("a.py", "x = 1  # made anew\n", [(1, "anew")]),
        ("a.py", '"""What is said.\n\nIt is made anew.\n"""\n', [(1, "anew")]),
        ("a.py", "def tell_result():\n    return f'{1} stands'\n", [(1, "tell"), (2, "stands")]),
        ("a.py", "QUERY = 'SELECT told FROM lines'\n", []),
        ("a.sql", "SELECT told -- it is made anew\n", [(1, "anew")]),
        ("a.yaml", "description: made anew\n", [(1, "anew")]),
        ("a.bin", "made anew", []),
    ],
)
def test_words_are_found_in_prose_only(
    tmp_path: Path, name: str, content: str, found: list[tuple[int, str]]
) -> None:
    assert read(tmp_path / name, content) == found


def test_a_hit_names_its_line_and_a_better_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.prose.__main__.ROOT", tmp_path)
    (tmp_path / "a.md").write_text("One.\nIt is\nmade anew.\n")
    assert list(find_words(tmp_path / "a.md", WORDS)) == [
        "a.md:3: 'anew' -> again; rebuild, re-read   (One. It is made anew.)"
    ]


@pytest.mark.parametrize("given", ["docs/how-to", "docs/how-to/", "docs/how-to/nightly.md", "docs"])
def test_files_are_listed_however_they_are_given(given: str) -> None:
    assert ROOT / "docs" / "how-to" / "nightly.md" in list_files([given], RULES["files"]["left_out"])


def test_what_is_left_out_is_not_listed() -> None:
    assert list_files(["LICENSE", "tests/prose"], RULES["files"]["left_out"]) == []


def test_a_project_without_such_words_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs/tutorial"]) == 0
    assert "prose: 0 words to avoid" in capsys.readouterr().out
