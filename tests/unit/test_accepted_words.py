"""A word that an argument does not take is refused wherever a query passes it, and nothing else is."""

import functools
import re

import pytest

from tapewise.accepted_words import check_query, list_accepted
from tapewise.mart_calls import build_query, read_objects
from tapewise.schema.errors import QueryError

# date_trunc() knows these words, so SQL does not name them.
PERIODS = {"day", "week", "month", "quarter", "year", "hour"}
# SQL compares these with facts, or treats one of the words like null, so that it does not name all of them.
WITH_A_DEFAULT = {"requester", "measure", "files", "zero_sizes", "unknown_origins"}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT * FROM mart.shares(shared_by => 'usr')",
            "mart.shares does not take 'usr' for shared_by, only user, client, class_of_service, network;"
            " did you mean 'user'?",
        ),
        (
            "SELECT 1 FROM MART.growth(archive => 'x', Period := 'fortnight'::text)",
            "for period, only day, week,",
        ),
        (
            "TABLE mart.f; SELECT mart.failures(grouped_by => '{day, \"cod\"}')",
            "'cod' for grouped_by, only code",
        ),
        ("SELECT mart.failures(grouped_by => ARRAY['day', 'MONTH']::text[])", "did you mean 'month'"),
        ("SELECT mart.transfer_sizes(since => now() - x('1, 2', f(3)), bins_per_decade => 2)", "only 1, 3"),
        ("SELECT f(a => mart.activity(direction => 'Put'))", "'Put' for direction, only put, get; did you"),
    ],
)
def test_a_wrong_word_is_refused(query, message):
    with pytest.raises(QueryError, match=re.escape(message)):
        check_query(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM mart.shares(shared_by => 'client', period => NULL, archive => 'usr')",
        "SELECT mart.failures(grouped_by => '{}'), mart.failures(grouped_by => ARRAY['day', 'code'])",
        "SELECT 'mart.shares(shared_by => ''usr'')' -- mart.shares(shared_by => 'usr')",
        "SELECT $$ mart.shares(shared_by => 'usr') $$ /* mart.shares(shared_by => 'usr') */",
        "SELECT * FROM mart.shares(shared_by => 'us' || 'er', period => %s, until => f(shared_by => 'usr'))",
        "SELECT * FROM mine.shares(shared_by => 'usr'), mart.unknown(period => 'usr'), mart.shares(",
        "SELECT * FROM mart.opens WHERE direction = 'Put'",
    ],
)
def test_all_else_is_left_to_the_server(query):
    check_query(query)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("user_sessions('a', pause_s => -1)", "-1 for pause_s"),
        ("user_sessions('a', pause_s => - 0.5::double precision)", "-0.5 for pause_s"),
        ("user_bursts(idle_s => 'NaN'::double precision, archive => 'a')", "NaN for idle_s"),
        ("recall_batches(together_s := '-3')", "-3 for together_s"),
        ("file_successors(top_count => -10)", "-10 for top_count"),
        ("transfer_neighbours(limit_count => -1)", "-1 for limit_count"),
    ],
)
def test_seconds_and_counts_are_not_negative(given, shown):
    message = f"does not take {shown}, only 0 or more"
    with pytest.raises(QueryError, match=re.escape(message)):
        check_query(f"SELECT * FROM mart.{given}")


@pytest.mark.parametrize(
    "given",
    [
        "user_sessions(pause_s => 0)",
        "user_sessions(pause_s => 0.5)",
        "user_sessions(pause_s => 'Infinity')",
        "user_sessions(pause_s => NULL)",
        "user_sessions(pause_s => 10 - 20)",
        "drives_needed(growth_ratio => -1)",
    ],
)
def test_other_numbers_are_left_to_the_server(given):
    check_query(f"SELECT * FROM mart.{given}")


@pytest.mark.parametrize("value", [-1, -0.5, float("nan"), "-2", "NaN"])
def test_python_refuses_such_numbers_too(value):
    functions = {each.name: each for each in read_objects().values() if "pause_s" in each.metadata.arguments}
    assert len(functions) > 1
    for function in functions.values():
        with pytest.raises(QueryError, match="for pause_s, only 0 or more"):
            build_query(function, {"pause_s": value})


def test_python_refuses_it_too():
    for name, arguments in [
        ("shares", {"shared_by": "usr"}),
        ("failures", {"grouped_by": ["day", "usr"]}),
        ("transfer_sizes", {"bins_per_decade": 2}),
    ]:
        with pytest.raises(QueryError, match=f"mart.{name} does not take '(usr|2)' for "):
            build_query(read_objects()[name], arguments)
    build_query(read_objects()["failures"], {"grouped_by": "{day,code}", "direction": "put"})
    build_query(read_objects()["transfers"], {"direction": "Put"})


def test_the_lists_are_those_of_the_descriptions_and_of_the_sql():
    objects = read_objects()

    @functools.cache
    def find_needed(name: str) -> frozenset[str]:
        return frozenset({name}).union(*map(find_needed, objects[name].metadata.depends_on))

    for name, each in objects.items():
        accepts = each.metadata.accepts
        for argument, meaning in each.metadata.arguments.items():
            if argument in ("grouped_by", "shared_by", "ranked_by", "held_by", "period", "measure"):
                assert argument in accepts, (name, argument)
            assert argument in accepts or not re.search("any(thing else| other number)", meaning), (
                name,
                argument,
            )
        if accepts:
            text = "".join(objects[needed].text for needed in find_needed(name))
            for argument, words in accepts.items():
                for word in words:
                    assert re.search(rf"\b{word}\b", each.metadata.arguments[argument]), (name, word)
                    is_elsewhere = word.isdigit() or word in PERIODS or argument in WITH_A_DEFAULT
                    assert is_elsewhere or re.search(rf"'{word}'|[{{,]{word}[,}}]", text), (name, word)


def test_direction_is_put_or_get_in_every_function():
    for name, each in read_objects().items():
        if "direction" in each.metadata.arguments and each.metadata.kind == "function":
            meaning = each.metadata.arguments["direction"]
            assert "put" in meaning and "get" in meaning, name
            assert list_accepted(each)["direction"] == ["put", "get"]
