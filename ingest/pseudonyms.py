"""Names of people, machines and files in records become pseudonyms, before anything is written of them.

The same name has the same pseudonym everywhere, so that what was counted or joined by name still is:

    kim                                p4f0c3b2a1d9e8f70
    /home/kim/run 7/out.tar.gz         /p…/p…/p…/p….tar.gz
    ~kim//notes.TXT/                   ~p…//p….TXT/
    put -d /scratch/k/run 7/out.tar    put -d /p…/p…/p… p…/p….tar

Slashes stay where they are, and so do `~`, `.`, `..` and what programs write for a stream; a file's
suffix stays where it is one that says what kind of file it is. Any other may be a name: `letter.kim`.
"""

from collections.abc import Callable
from functools import partial

import polars as pl

from ingest.formats.base import NAME_COLUMNS, Format
from ingest.formats.cond import OPERATIONS
from ingest.pseudonym_keys import PseudonymKey

SUFFIXES = (
    # packed and put together; HTAR's index
    "tar", "tgz", "tbz", "tbz2", "txz", "gz", "bz2", "xz", "zst", "z", "lz4", "zip", "7z", "cpio", "idx",
    # data
    "bin", "cdf", "chk", "csv", "dat", "data", "db", "dmp", "dump", "fits", "grb", "grb2", "grib", "grib2",
    "h5", "hdf", "hdf4", "hdf5", "he5", "img", "json", "mat", "nc", "nc4", "npy", "npz", "parquet", "raw",
    "root", "rst", "silo", "sql", "tsv", "vtk", "xml", "yaml",
    # texts and programs
    "c", "cc", "conf", "cpp", "doc", "err", "exe", "f", "f77", "f90", "h", "htm", "html", "inp", "log", "o",
    "out", "pdf", "ps", "py", "sh", "so", "tex", "txt",
    # pictures
    "avi", "bmp", "eps", "gif", "jpeg", "jpg", "mov", "mp4", "mpeg", "mpg", "png", "tif", "tiff",
    # copies
    "bak", "old", "tmp",
)  # fmt: skip
SUFFIX = rf"(?i)((?:\.(?:{'|'.join(SUFFIXES)})){{1,2}})$"
KEPT = (".", "..", "<stdin>", "<stdout>")
# Deeper folders are too few for it.
LEVELS = 6
OPTION = "^-[A-Za-z]$"
# What STAT logs are known to say of a failure: codes of source and sink.
STATUS = r"^(?:-?[0-9]{1,4}(?: \(Ftp [0-9]{1,4}\))?|LEN failure)$"


def hide_names(records: pl.DataFrame, log_format: Format, key: PseudonymKey) -> pl.DataFrame:
    """The records of a block with pseudonyms for names, and without the texts of their lines.

    `records` has the columns of `RECORD_SCHEMA`, and `text`.
    """
    hidden = [_SHAPES[shape](records[column], key) for column, shape in NAME_COLUMNS.items()]
    records = records.with_columns(*hidden, text=pl.lit(None, dtype=pl.String))
    if log_format.is_host_in_operation:
        records = records.with_columns(operation=pl.coalesce("direction", "kind"))
    return records


def hide_paths(paths: pl.Series, key: PseudonymKey, levels: int = LEVELS) -> pl.Series:
    """Each path with a pseudonym for each of its components.

    Many files have one folder, and many folders one above them: at each of the last `levels` the path of a
    folder is made once.
    """
    if not levels or not paths.str.contains("/", literal=True).any():
        return _each_once(paths, partial(_hide_components, key=key))
    cut = paths.str.extract_groups("(?s)^(?:(?<folder>.*)/)?(?<file>[^/]*)$").struct.unnest()
    folders = cut["folder"].unique()
    made = pl.DataFrame({"folder": folders, "hidden": hide_paths(folders, key, levels - 1)})
    hidden = pl.concat_str("hidden", _hide_component(pl.col("file"), key), separator="/", ignore_nulls=True)
    files = cut.join(made, on="folder", how="left", maintain_order="left").select(
        pl.when(pl.col("file").is_not_null()).then(hidden)
    )
    return files.to_series().alias(paths.name)


def _hide_words(texts: pl.Series, key: PseudonymKey) -> pl.Series:
    """Texts with pseudonyms for all but a command in front and options of one letter."""

    def hide(text: pl.Expr) -> pl.Expr:
        words = text.str.split(" ").list.eval(
            pl.when(pl.element().str.contains(OPTION))
            .then(pl.element())
            .otherwise(_hide_components(pl.element(), key))
        )
        first, rest = text.str.extract("^([^ ]*)", 1), words.list.slice(1)
        is_command = first.is_in(OPERATIONS)
        head = pl.when(is_command).then(first).otherwise(words.list.first())
        return pl.concat_list(head, rest).list.join(" ")

    return _each_once(texts, hide)


def _hide_status(texts: pl.Series, key: PseudonymKey) -> pl.Series:
    """Texts of failures, where they are none of those known with pseudonyms for their words."""

    def hide(text: pl.Expr) -> pl.Expr:
        words = text.str.split(" ").list.eval(_hide_components(pl.element(), key)).list.join(" ")
        return pl.when(text.str.contains(STATUS)).then(text).otherwise(words)

    return _each_once(texts, hide)


def _hide_whole(names: pl.Series, key: PseudonymKey) -> pl.Series:
    return _each_once(names, key.hide_names)


def _hide_components(path: pl.Expr, key: PseudonymKey) -> pl.Expr:
    return path.str.split("/").list.eval(_hide_component(pl.element(), key)).list.join("/")


def _hide_component(component: pl.Expr, key: PseudonymKey) -> pl.Expr:
    suffix = component.str.extract(SUFFIX, 1).fill_null("")
    home = component.str.extract("^(~)", 1).fill_null("")
    length = component.str.len_chars() - suffix.str.len_chars() - home.str.len_chars()
    stem = component.str.slice(home.str.len_chars(), length)
    hidden = pl.when(stem == "").then(stem).otherwise(key.hide_names(stem))
    return pl.when(component.is_in(KEPT)).then(component).otherwise(home + hidden + suffix)


def _each_once(names: pl.Series, hide: Callable[[pl.Expr], pl.Expr]) -> pl.Series:
    """`hide` of each name, made once for those that are equal; null stays null."""
    distinct = names.drop_nulls().unique().alias("name").to_frame()
    made = distinct.select("name", hidden=hide(pl.col("name")))
    hidden = names.alias("name").to_frame().join(made, on="name", how="left", maintain_order="left")["hidden"]
    return hidden.alias(names.name)


_SHAPES: dict[str, Callable[[pl.Series, PseudonymKey], pl.Series]] = {
    "name": _hide_whole,
    "path": hide_paths,
    "words": _hide_words,
    "status": _hide_status,
}
