"""Builds schema `mart` from `sql/`, which has a folder per topic with one folder per view or function.

    sql/facts/opens/view.sql         CREATE VIEW mart.opens AS ...
    sql/facts/opens/metadata.yaml    what one row is, what each column means, who may read it

`mart` holds no data, so it is never altered, but dropped and rebuilt as a whole, in one transaction.
"""

import graphlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import psycopg
import xxhash
import yaml
from psycopg import errors, sql
from pydantic import ValidationError

from tapewise.schema.access.roles import NAMES, READER
from tapewise.schema.errors import DatabaseError
from tapewise.schema.tables.mart_answers import name_computed, rename_computed, write_choice
from tapewise.schema.tables.mart_metadata import Metadata

# Next to our packages, both in a checkout and in an installed wheel.
SQL_FOLDER = Path(__file__).parents[2] / "sql"

# The place in the text of `mart.coverage` where the needs of all objects go.
_NEEDS_PLACE = "'[]'"


@dataclass(frozen=True)
class MartObject:
    """A view or function of `mart`: the folder it comes from, its SQL and its metadata."""

    folder: Path
    text: str
    metadata: Metadata

    @property
    def name(self) -> str:
        """The name of the object, which is the name of its folder."""
        return self.folder.name


def read_mart(folder: Path = SQL_FOLDER) -> list[MartObject]:
    """Read the objects in `folder`, sorted by name, except that each follows those that it depends on.

    Raises a DatabaseError that names the file if a file is missing or malformed, if a dependency is unknown,
    or if dependencies are circular.
    """
    if not folder.is_dir():
        raise DatabaseError(
            f"{folder} is missing", hint="Is the installation complete? sql/ is part of Tapewise."
        )
    paths = sorted((path for path in folder.glob("*/*") if path.is_dir()), key=lambda path: path.name)
    for first, second in pairwise(paths):
        if first.name == second.name:
            raise DatabaseError(
                f"{first} and {second} have the same name; a view or function has exactly one folder"
            )
    objects = {path.name: _read_object(path) for path in paths}
    for name, each in objects.items():
        if each.metadata.columns_of:
            objects[name] = _insert_columns(each, objects)
    if "coverage" in objects:
        objects["coverage"] = _insert_needs(objects["coverage"], objects.values())
    for each in objects.values():
        for name in each.metadata.depends_on:
            if name not in objects:
                raise DatabaseError(
                    f"{each.folder / 'metadata.yaml'}: depends_on: no folder '{name}' in a topic of {folder}"
                )
    sorter = graphlib.TopologicalSorter(
        {name: sorted({*each.metadata.depends_on, *_find_chosen(each)}) for name, each in objects.items()}
    )
    try:
        return [objects[name] for name in sorter.static_order()]
    except graphlib.CycleError as error:
        circle = error.args[1]
        files = ", ".join(str(objects[name].folder / "metadata.yaml") for name in sorted(set(circle)))
        raise DatabaseError(f"depends_on is circular ({' <- '.join(circle)}): {files}") from None


def read_function(name: str, folder: Path = SQL_FOLDER) -> MartObject | None:
    """Read one function, which is much faster than all objects; None if there is none of that name."""
    path = next(folder.glob(f"*/{name}/function.sql"), None)
    return None if path is None else _read_object(path.parent)


def _find_chosen(each: MartObject) -> tuple[str, ...]:
    """What the function that `write_choice` makes depends on."""
    if not each.metadata.kept:
        return ()
    return ("kept_names" if each.metadata.has_names else "answers", "is_answered")


def rebuild_mart(connection: psycopg.Connection, folder: Path = SQL_FOLDER) -> None:
    """Drop schema `mart` and rebuild it from `folder`, as `make_mart` does."""
    make_mart(connection, read_mart(folder))


def make_mart(connection: psycopg.Connection, objects: Iterable[MartObject]) -> None:
    """Drop schema `mart` and rebuild it from `objects`, in that order, with comments and grants.

    Runs in the caller's transaction, as the owner. Needs the roles and the tables that base views read.
    Raises DatabaseError if anything outside `mart` depends on it, if an object's SQL fails, or if the SQL and
    its metadata disagree. In that case nothing has changed, and the caller's transaction can continue.
    """
    objects = list(objects)
    with connection.transaction():
        drop_mart(connection)
        connection.execute("CREATE SCHEMA mart")
        said = f"What analysts see: views and functions, rebuilt by each upgrade ({digest_mart(objects)})"
        connection.execute(sql.SQL("COMMENT ON SCHEMA mart IS {}").format(sql.Literal(said)))
        connection.execute(
            sql.SQL("GRANT USAGE ON SCHEMA mart TO {}, {}").format(
                sql.Identifier(READER), sql.Identifier(NAMES)
            )
        )
        for each in objects:
            _make(connection, each)


def digest_mart(objects: Iterable[MartObject]) -> str:
    """A digest that identifies a `mart`: xxh3 of its SQL and metadata."""
    found = xxhash.xxh3_64()
    for each in sorted(objects, key=lambda each: each.name):
        found.update(f"{each.name}\0{each.text}\0{each.metadata.model_dump_json()}\0".encode())
    return found.hexdigest()


def is_mart_current(connection: psycopg.Connection) -> bool:
    """Whether schema `mart` was built from this program's `sql/`."""
    row = connection.execute("SELECT obj_description(to_regnamespace('mart'), 'pg_namespace')").fetchone()
    return row is not None and f"({digest_mart(read_mart())})" in (row[0] or "")


def drop_mart(connection: psycopg.Connection) -> None:
    """Drop schema `mart`, if there is one, in the caller's transaction.

    A migration cannot alter a column while a view shows it. Raises DatabaseError if objects outside `mart`
    depend on it (an analyst's own view, say), or if it contains objects that are not ours; the message names
    them. In that case nothing is dropped.
    """
    found = connection.execute(
        """
        SELECT 'VIEW', pg_class.oid::regclass::text FROM pg_class
        WHERE relnamespace = to_regnamespace('mart') AND relkind = 'v'
        UNION ALL
        SELECT 'FUNCTION', pg_proc.oid::regprocedure::text FROM pg_proc
        WHERE pronamespace = to_regnamespace('mart') AND prokind = 'f'
        """
    ).fetchall()
    try:
        with connection.transaction():
            # CASCADE is never used: if somebody else's object depends on ours, dropping must fail. Functions
            # are dropped after views, because a view may depend on a function; PostgreSQL does not record
            # what a function's text depends on.
            for kind in ("VIEW", "FUNCTION"):
                names = ", ".join(name for found_kind, name in found if found_kind == kind)
                if names:
                    connection.execute(f"DROP {kind} {names} RESTRICT".encode())
            connection.execute("DROP SCHEMA IF EXISTS mart RESTRICT")
    except errors.DependentObjectsStillExist as error:
        raise DatabaseError(
            f"schema mart cannot be rebuilt: {_in_one_line(error.diag.message_detail)}",
            hint="Each upgrade drops and rebuilds mart, and would drop these with it. Save their definitions "
            "(pg_dump -s), drop them, upgrade, and create them again.",
        ) from error


def _in_one_line(detail: str | None) -> str:
    return "; ".join((detail or "something depends on it").splitlines())


def _read_object(folder: Path) -> MartObject:
    path = folder / "metadata.yaml"
    try:
        metadata = Metadata.model_validate(yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader))
    except FileNotFoundError:
        raise DatabaseError(f"{path} is missing") from None
    except yaml.YAMLError as error:
        raise DatabaseError(f"{path} is not valid YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise DatabaseError(f"{path}: {where}: {first['msg']}") from None
    path = folder / f"{metadata.kind}.sql"
    try:
        return MartObject(folder, path.read_text(encoding="utf-8"), metadata)
    except FileNotFoundError:
        raise DatabaseError(f"{path} is missing") from None


def _insert_columns(each: MartObject, objects: Mapping[str, MartObject]) -> MartObject:
    """Return `each` with the columns of the object that its `columns_of` names."""
    other = objects.get(each.metadata.columns_of)
    if other is None or not other.metadata.columns:
        raise DatabaseError(
            f"{each.folder / 'metadata.yaml'}: columns_of: no object '{each.metadata.columns_of}'"
            " describes its columns"
        )
    return replace(each, metadata=each.metadata.model_copy(update={"columns": other.metadata.columns}))


def _insert_needs(coverage: MartObject, objects: Iterable[MartObject]) -> MartObject:
    """Return `coverage` with the needs of all objects in its SQL: object, need and extent (all or part)."""
    needs = [
        {"view_name": each.name, "need": need, "extent": extent}
        for each in sorted(objects, key=lambda each: each.name)
        for need, extent in each.metadata.needs.items()
    ]
    return replace(coverage, text=coverage.text.replace(_NEEDS_PLACE, f"'{json.dumps(needs)}'"))


def _make(connection: psycopg.Connection, each: MartObject) -> None:
    """Create one object, check that metadata and database agree, and add comments and grants."""
    path = each.folder / f"{each.metadata.kind}.sql"
    try:
        # Without parameters, psycopg sends the text unchanged, so `%` and `:word` are not special.
        if each.metadata.kept:
            connection.execute(rename_computed(each.name, each.text).encode())
            _make_choice(connection, each)
        else:
            connection.execute(each.text.encode())
    except psycopg.Error as error:
        raise DatabaseError(f"{path}: {str(error).strip()}") from error
    if each.metadata.kind == "view":
        _finish_view(connection, each)
    else:
        _finish_function(connection, each)


def _make_choice(connection: psycopg.Connection, function: MartObject) -> None:
    """Create the function that returns kept answers, after the one that computes them."""
    computed = name_computed(function.name)
    row = connection.execute(
        """
        SELECT pg_get_function_arguments(oid), pg_get_function_result(oid), oid::regprocedure::text,
            (
                SELECT json_object_agg(name, format_type(type, NULL) ORDER BY place)
                FROM unnest(proargnames, proallargtypes, proargmodes::text[])
                    WITH ORDINALITY AS argument (name, type, mode, place)
                WHERE mode = 'i'
            )
        FROM pg_proc
        WHERE pronamespace = to_regnamespace('mart') AND proname = %s
        """,
        [computed],
    ).fetchone()
    assert row is not None
    arguments, result, target, types = row
    said = f"What mart.{function.name} computes if no answer is kept; call that one"
    connection.execute(sql.SQL("COMMENT ON FUNCTION {} IS {}").format(sql.SQL(target), sql.Literal(said)))
    connection.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC").format(sql.SQL(target)))
    connection.execute(
        sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(sql.SQL(target), _grantees(function))
    )
    connection.execute(
        write_choice(function.name, arguments, types, result, has_names=function.metadata.has_names)
    )


def _finish_view(connection: psycopg.Connection, view: MartObject) -> None:
    rows = connection.execute(
        """
        SELECT attname FROM pg_attribute
        WHERE attrelid = to_regclass(format('mart.%%I', %s::text)) AND attnum > 0
        ORDER BY attnum
        """,
        [view.name],
    ).fetchall()
    _compare(view, "columns", [name for (name,) in rows], view.metadata.columns)
    target = sql.Identifier("mart", view.name)
    for column, meaning in view.metadata.columns.items():
        connection.execute(
            sql.SQL("COMMENT ON COLUMN {} IS {}").format(
                sql.Identifier("mart", view.name, column), sql.Literal(meaning)
            )
        )
    connection.execute(sql.SQL("COMMENT ON VIEW {} IS {}").format(target, sql.Literal(_comment(view))))
    connection.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(target, _grantees(view)))


def _finish_function(connection: psycopg.Connection, function: MartObject) -> None:
    rows = connection.execute(
        """
        SELECT pg_proc.oid::regprocedure::text, argument.name, coalesce(argument.mode, 'i')
        FROM pg_proc, unnest(proargnames, proargmodes::text[]) WITH ORDINALITY AS argument (name, mode, place)
        WHERE pronamespace = to_regnamespace('mart') AND proname = %s
        ORDER BY argument.place
        """,
        [function.name],
    ).fetchall()
    metadata = function.metadata
    _compare(function, "arguments", [name for _, name, mode in rows if mode == "i"], metadata.arguments)
    columns = [name for _, name, mode in rows if mode == "t"]
    if columns or not metadata.returns:
        _compare(function, "columns", columns, metadata.columns)
    # Functions have no columns to comment on, so one comment describes arguments and result.
    comment = "\n".join(
        [
            _comment(function),
            *(f"Argument {name}: {meaning}" for name, meaning in metadata.arguments.items()),
            *(f"Column {name}: {meaning}" for name, meaning in metadata.columns.items()),
        ]
    )
    target = sql.SQL(rows[0][0])
    connection.execute(sql.SQL("COMMENT ON FUNCTION {} IS {}").format(target, sql.Literal(comment)))
    connection.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC").format(target))
    connection.execute(sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(target, _grantees(function)))


def _compare(each: MartObject, what: str, made: list[str], described: Iterable[str]) -> None:
    """Raise DatabaseError unless the database has exactly what the metadata describes, in the same order."""
    path = each.folder / "metadata.yaml"
    if not made:
        raise DatabaseError(
            f"{path}: there is no {each.metadata.kind} mart.{each.name} with {what} to describe"
        )
    described = list(described)
    for name in described:
        if name not in made:
            raise DatabaseError(f"{path}: {what} describes '{name}', which mart.{each.name} does not have")
    for name in made:
        if name not in described:
            raise DatabaseError(f"{path}: {what} does not describe '{name}' of mart.{each.name}")
    if made != described:
        raise DatabaseError(f"{path}: {what} are not in the order of mart.{each.name}: {', '.join(made)}")


def _comment(each: MartObject) -> str:
    gives = each.metadata.gives
    return f"{gives[0].upper()}{gives[1:]}. {each.metadata.summary}"


def _grantees(each: MartObject) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(role) for role in each.metadata.grants)
