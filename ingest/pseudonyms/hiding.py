"""Replaces names of people, machines and files in records with pseudonyms, before anything is stored.

The same name has the same pseudonym everywhere, so counting and joining by name still work:

    kim                                p4f0c3b2a1d9e8f70
    /home/kim/run 7/out.tar.gz         /p…/p…/p…/p….tar.gz
    ~kim//notes.TXT/                   ~p…//p….TXT/
    put -d /scratch/k/run 7/out.tar    put -d /p…/p…/p… p…/p….tar

Slashes, `~`, `.`, `..`, `<stdin>` and `<stdout>` stay as they are. A suffix stays if it is known to denote a
type of file. Any other suffix may be a name, as in `letter.kim`, and is hidden.
"""

from collections.abc import Callable

import polars as pl

from tapewise.ingest.formats.cond import OPERATIONS
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.records.columns import NAME_COLUMNS
from tapewise.ingest.records.format import Format

SUFFIXES = (
    # compressed files and archives; HTAR's index
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
# Few paths have more levels than this, so the levels above are processed together.
LEVELS = 6
OPTION = "^-[A-Za-z]$"
# The failure texts known from STAT logs: error codes of the source and destination, or `LEN failure`.
STATUS = r"^(?:-?[0-9]{1,4}(?: \(Ftp [0-9]{1,4}\))?|LEN failure)$"


def hide_names(records: pl.DataFrame, log_format: Format, key: PseudonymKey) -> pl.DataFrame:
    """Replace names in the records of a block with pseudonyms, and remove the text of each line.

    `records` has the columns of `RECORD_SCHEMA`, and `text`.
    """
    hidden = [_SHAPES[shape](records[column], key) for column, shape in NAME_COLUMNS.items()]
    records = records.with_columns(*hidden, text=pl.lit(None, dtype=pl.String))
    if log_format.is_host_in_operation:
        records = records.with_columns(operation=pl.coalesce("direction", "kind"))
    return records


def hide_paths(paths: pl.Series, key: PseudonymKey, levels: int = LEVELS) -> pl.Series:
    """Replace each component of each path with a pseudonym.

    Many files share a folder, and many folders share a parent. Therefore, at each of the last `levels`, every
    distinct folder path is processed only once.
    """
    if not levels:
        return _each_once(
            paths, lambda texts: _hide_parts(texts, "/", lambda each, _: _hide_components(each, key))
        )

    def hide_folders(folders: pl.Series) -> pl.Series:  # each folder ends with a slash or is empty
        hidden = hide_paths(folders.str.strip_suffix("/"), key, levels - 1)
        return hidden + folders.str.tail(1)

    cut = paths.alias("path").to_frame().with_columns(file=pl.col("path").str.extract("([^/]*)$"))
    folders = cut.select(pl.col("path").str.strip_suffix(pl.col("file")))["path"]
    files = _hide_components(cut["file"], key)
    if not (folders != "").any():
        return files.alias(paths.name)
    return (_each_once(folders, hide_folders) + files).alias(paths.name)


def _hide_words(texts: pl.Series, key: PseudonymKey) -> pl.Series:
    """Replace all words with pseudonyms, except for a leading command and one-letter options."""

    def hide(words: pl.Series, is_first: pl.Series) -> pl.Series:
        is_kept = (is_first & words.is_in(OPERATIONS)) | words.str.contains(OPTION)
        return words.zip_with(is_kept, hide_paths(words, key))

    return _each_once(texts, lambda distinct: _hide_parts(distinct, " ", hide))


def _hide_status(texts: pl.Series, key: PseudonymKey) -> pl.Series:
    """Replace the words of each failure text with pseudonyms, unless the text matches `STATUS`."""

    def hide(distinct: pl.Series) -> pl.Series:
        words = _hide_parts(distinct, " ", lambda words, _: hide_paths(words, key))
        return distinct.zip_with(distinct.str.contains(STATUS), words)

    return _each_once(texts, hide)


def _hide_whole(names: pl.Series, key: PseudonymKey) -> pl.Series:
    return _each_once(names, lambda distinct: pl.select(key.hide_names(pl.lit(distinct))).to_series())


def _hide_components(components: pl.Series, key: PseudonymKey) -> pl.Series:
    name, stem = pl.col("name"), pl.col("stem")
    return (
        components.alias("name")
        .to_frame()
        .with_columns(suffix=name.str.extract(SUFFIX).fill_null(""))
        .with_columns(stem=name.str.strip_suffix(pl.col("suffix")).str.strip_prefix("~"))
        .with_columns(home=pl.when(name.str.starts_with("~")).then(pl.lit("~")).otherwise(pl.lit("")))
        .select(
            pl.when(name.is_in(KEPT) | (stem == ""))
            .then(name)
            .otherwise(pl.concat_str("home", key.hide_names(stem), "suffix"))
        )
        .to_series()
    )


def _hide_parts(
    texts: pl.Series, separator: str, hide: Callable[[pl.Series, pl.Series], pl.Series]
) -> pl.Series:
    """Hide the parts of texts (no nulls). `hide` gets the parts, and whether each is first in its text."""
    parts = (
        texts.alias("part").to_frame().with_row_index("row").with_columns(pl.col("part").str.split(separator))
    ).explode("part")
    hidden = hide(parts["part"], parts["row"].is_first_distinct())
    joined = parts.with_columns(part=hidden).group_by("row", maintain_order=True)
    return joined.agg(pl.col("part").str.join(separator))["part"]


def _each_once(names: pl.Series, hide: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Apply `hide` to each distinct name once; null stays null."""
    distinct = names.drop_nulls().unique()
    made = pl.DataFrame({"name": distinct, "hidden": hide(distinct)})
    frame = names.alias("name").to_frame()
    hidden = frame.join(made, on="name", how="left", maintain_order="left")["hidden"]
    return hidden.alias(names.name)


_SHAPES: dict[str, Callable[[pl.Series, PseudonymKey], pl.Series]] = {
    "name": _hide_whole,
    "path": hide_paths,
    "words": _hide_words,
    "status": _hide_status,
}
