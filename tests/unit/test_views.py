"""`tapewise views`: every view and function is listed and described, without a database."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tapewise.schema.errors import DatabaseError, LookupFailedError
from tapewise.schema.tables.mart import MartObject, read_mart
from tapewise.schema.tables.mart_signatures import Argument, read_signature
from tapewise.views import views

OBJECTS = {each.name: each for each in read_mart()}
FUNCTIONS = [each for each in OBJECTS.values() if each.metadata.kind == "function"]


@pytest.fixture(autouse=True)
def mart_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save the 65 ms that each command takes to read sql/."""
    monkeypatch.setattr("tapewise.views.read_mart", lambda: list(OBJECTS.values()))


# There are no settings, so no test can open a database.
def run(*arguments: str, width: int = 100) -> Result:
    return CliRunner().invoke(views, arguments, env={"COLUMNS": str(width)})


def test_the_list_has_a_line_for_each_by_topic() -> None:
    done = run()
    assert done.exit_code == 0
    topic, listed = "", {}
    for line in done.stdout.splitlines():
        if not line.startswith("  "):
            topic = line
        else:
            name, gives = re.split(r" {2,}", line.strip(), maxsplit=1)
            listed[name] = (topic, gives)
    assert {name.removesuffix("()") for name in listed} == OBJECTS.keys()
    assert listed["cache_hits()"] == ("cache", OBJECTS["cache_hits"].metadata.gives)
    assert listed["user_names"] == ("facts", "one row per user of an archive (with --as names)")
    assert [name for name, (_, gives) in listed.items() if gives.endswith("(with --as names)")] == [
        "transfer_names",
        "unitree_job_names",
        "user_names",
        "account_usage()",
        "project_cold_data()",
        "kept_names",
        "project_shares()",
    ]


def test_a_function_is_described() -> None:
    lines = run("mart.idle_intervals").stdout.splitlines()
    assert lines[0] == "mart.idle_intervals(), a function of the topic activity"
    described = " ".join(" ".join(lines).split())
    assert "archive text only this archive (default: all)" in described
    assert re.search(r"shortest_s double precision .*\(default: ", described)
    assert "Example SELECT" in described
    assert all(len(line) <= 100 for line in lines[: lines.index("Example")])


def test_columns_have_units() -> None:
    document = json.loads(run("transfers", "--json").stdout)
    units = {column["name"]: column["unit"] for column in document["columns"]}
    assert {name: units[name] for name in (
        "archive", "size_bytes", "duration_s", "rate_bytes_per_s", "is_failed", "ended_at"
    )} == {
        "archive": None, "size_bytes": "bytes", "duration_s": "s", "rate_bytes_per_s": "bytes/s",
        "is_failed": "yes/no", "ended_at": "time",
    }  # fmt: skip
    assert re.search(r"^  size_bytes +bytes +bytes moved$", run("transfers").stdout, re.MULTILINE)


def test_json_has_everything_that_metadata_has() -> None:
    documents = [json.loads(line) for line in run("--json").stdout.splitlines()]
    assert {document["name"] for document in documents} == OBJECTS.keys()
    for document in documents:
        metadata = OBJECTS[document["name"]].metadata
        assert {row["name"]: row["meaning"] for row in document["columns"]} == metadata.columns
        assert {row["name"]: row["meaning"] for row in document["arguments"]} == metadata.arguments
        assert (document["gives"], document["example"]) == (metadata.gives, metadata.example.strip())


def test_each_is_described() -> None:
    for name, each in OBJECTS.items():
        done = run(name, width=60)
        assert done.exit_code == 0, name
        assert [column for column in each.metadata.columns if f"\n  {column} " not in done.stdout] == [], name


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cach_hits", "Did you mean cache_hits?"),
        ("mart.transfer", "Did you mean transfers?"),
        ("zzz", "`tapewise views` lists them."),
    ],
)
def test_a_misspelt_name_suggests_the_closest(name: str, hint: str) -> None:
    error = run(name).exception
    assert isinstance(error, LookupFailedError)
    assert (error.hint, error.exit_status) == (hint, 1)
    assert name.removeprefix("mart.") in error.message


def read_found(*words: str) -> dict[str, list[str]]:
    """The names that a search lists, by where the words occur."""
    done = run(*words)
    assert done.exit_code == 0
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if not line.startswith(" "):
            names = found.setdefault(line, [])
        elif line[2] != " ":
            names.append(line.split()[0].removesuffix("()"))
    return found


def test_views_are_found_by_words() -> None:
    found = read_found("recall")
    assert {"recalls", "tape_recalls", "recall_latencies", "recall_batches"} <= {*found["by name"]}
    assert not {*found["by name"]} & {*found.get("by description", ())}
    # All words occur, in whatever case and number, and a space is as good as an underscore.
    assert read_found("LAZY", "waits") == read_found("lazy_wait") == read_found("lazy wait")
    columns = run("lazy", "wait").stdout
    assert re.search(
        r"^  mounts  one row per .*\n    lazy_wait_s  seconds in the drive", columns, re.MULTILINE
    )
    assert all(len(line) <= 100 for line in columns.splitlines() if line.startswith("    "))
    # A word of the name and one of a column.
    assert read_found("batches", "together")["by column or argument"] == ["recall_batches"]
    # An argument is shown as it is given.
    assert re.search(r"^  get_successions\(\)  .*\n    together_s =>  ", run("together").stdout, re.MULTILINE)
    assert "recall_latencies" in read_found("order-statistic")["by description"]
    documents = [json.loads(line) for line in run("--json", "lazy", "wait").stdout.splitlines()]
    assert {each["name"] for each in documents} == {
        name for names in read_found("lazy", "wait").values() for name in names
    }


def test_words_that_occur_nowhere_together_are_an_error() -> None:
    error = run("lazy", "moon").exception
    assert isinstance(error, LookupFailedError)
    assert "lazy moon" in error.message
    # A name of a schema is a name, not a word.
    assert isinstance(run("mart.recall").exception, LookupFailedError)
    # An empty word occurs everywhere.
    assert isinstance(run("").exception, LookupFailedError)
    assert isinstance(run("recall", " ").exception, LookupFailedError)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.name)
def test_every_signature_is_read(function: MartObject) -> None:
    signature = read_signature(function)
    assert [argument.name for argument in signature.arguments] == list(function.metadata.arguments)
    assert list(signature.columns) == list(function.metadata.columns)
    assert (signature.returns is None) == bool(signature.columns)


def test_types_and_defaults() -> None:
    weight = read_signature(OBJECTS["poisson_weight"])
    assert weight.arguments == (
        Argument("replicate", "bigint", None),
        Argument("block_number", "bigint", None),
    )
    assert weight.returns == "integer"
    fates = read_signature(OBJECTS["file_fates"])
    assert fates.arguments[-1] == Argument("after_days", "double precision[]", "'{30,90,365}'")
    hits = read_signature(OBJECTS["cache_hits"])
    assert hits.arguments[1] == Argument("since", "timestamptz", "NULL")
    assert hits.columns["hit_ratio"] == "double precision"
    assert "(required)" in run("poisson_weight").stdout


def test_text_that_is_no_function_is_refused() -> None:
    with pytest.raises(DatabaseError, match="no function"):
        read_signature(OBJECTS["transfers"])
    broken = MartObject(Path("x"), "CREATE FUNCTION other.f() RETURNS integer", FUNCTIONS[0].metadata)
    with pytest.raises(DatabaseError, match="no function"):
        read_signature(broken)


@pytest.mark.parametrize("function", [each for each in OBJECTS.values() if each.metadata.columns_of])
def test_selected_rows_have_the_columns_of_their_view_in_their_places(function: MartObject) -> None:
    alias = {"requests_between": "found"}.get(function.name, function.metadata.columns_of)
    body = function.text.partition("$function$")[2]
    assert re.findall(rf"^    {alias}\.(\w+),?$", body, re.MULTILINE) == list(
        read_signature(function).columns
    )
