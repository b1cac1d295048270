"""Functions of `mart` whose answers `tapewise refresh` keeps, and the SQL that chooses between the two.

`sql/` says how such a function computes. Its text becomes `mart.computed_<name>`, and `mart.<name>` is made
from it: it returns the rows that are kept for the same arguments, if nothing has changed since
(`mart.is_answered`), and else computes them.
"""

import re
from collections.abc import Mapping

from psycopg import sql

# As `sql/` writes the type, and as PostgreSQL does.
_TIMES = ("timestamptz", "timestamp with time zone")


def name_computed(name: str) -> str:
    """Return the name of the function that computes."""
    return f"computed_{name}"


def rename_computed(name: str, text: str) -> str:
    """Return the text of a function under the name of the function that computes.

    Arguments are qualified with the function's name, so that name changes too.
    """
    return re.sub(rf"\b{name}(?=\.\w)|(?<=FUNCTION mart\.){name}\b", name_computed(name), text)


def write_key(values: Mapping[str, sql.Composable], types: Mapping[str, str]) -> sql.Composable:
    """Write an expression for the arguments of a call as one JSON object, without nulls and the archive.

    Times are written in UTC, because their texts depend on the session's zone.
    """
    pairs = [
        sql.SQL("{}, {}{}").format(
            sql.Literal(name),
            value,
            sql.SQL(" AT TIME ZONE 'UTC'" if types[name] in _TIMES else ""),
        )
        for name, value in values.items()
        if name != "archive"
    ]
    return sql.SQL("jsonb_strip_nulls(jsonb_build_object({}))").format(sql.SQL(", ").join(pairs))


def write_choice(
    name: str, arguments: str, types: Mapping[str, str], result: str, *, has_names: bool
) -> sql.Composed:
    """Write the function that returns kept rows, or computes them.

    `arguments` and `result` are what PostgreSQL writes for the function that computes, and `types` are the
    types of its arguments, by name. With `has_names`, the rows have names that not every reader may see.
    """
    values = {each: sql.Identifier(name, each) for each in types}
    key, archive = write_key(values, types), values["archive"]
    which = sql.SQL("{}, {}, {}").format(sql.Literal(name), archive, key)
    given = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(each), value) for each, value in values.items()
    )
    # The condition depends on no row, so it is computed first, and if it is false, nothing is read.
    return sql.SQL(
        "CREATE FUNCTION {function}({arguments}) RETURNS {result} LANGUAGE sql STABLE PARALLEL SAFE"
        " AS $choice$"
        " SELECT kept.* FROM {answers} AS answers"
        " CROSS JOIN LATERAL jsonb_to_recordset(answers.answer) AS kept {columns}"
        " WHERE answers.function_name = {name} AND answers.arguments = {key}"
        " AND ({archive} IS NULL OR answers.archive = {archive}) AND mart.is_answered({which})"
        " UNION ALL"
        " SELECT found.* FROM {computed}({given}) AS found WHERE NOT mart.is_answered({which})"
        " $choice$"
    ).format(
        function=sql.Identifier("mart", name),
        answers=sql.Identifier("mart", "kept_names" if has_names else "answers"),
        computed=sql.Identifier("mart", name_computed(name)),
        arguments=sql.SQL(arguments),
        result=sql.SQL(result),
        columns=sql.SQL(result.removeprefix("TABLE")),
        name=sql.Literal(name),
        key=key,
        archive=archive,
        which=which,
        given=given,
    )
