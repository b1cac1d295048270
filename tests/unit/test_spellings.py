"""A name in the wrong case is noticed, and nothing else is."""

from tapewise.spellings import find_near, find_texts


def test_texts_are_found_in_all_ways_of_passing_them():
    query = "SELECT 'a' FROM mart.f(archive => 'It''s', x => 1) WHERE archive IN ('B', 'c') AND Archive='d'"
    assert find_texts(query) == ["a", "It's", "B", "c", "d"]
    assert find_texts(query, "archive") == ["It's", "B", "c", "d"]
    assert find_texts(query, "interface") == []


def test_only_names_in_another_case_are_near():
    names = ["hpss", "HPSS", "example"]
    assert find_near(["example", "HPSS", "other", "Example", "Example", "Hpss"], names, "archive") == [
        "No archive is called 'Example', but one is called 'example': letters' case matters.",
        "No archive is called 'Hpss', but one is called 'hpss' and one 'HPSS': letters' case matters.",
    ]
