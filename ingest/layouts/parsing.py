"""Makes records from lines as a layout describes. Each kind of line is looked for in all lines at once."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from tapewise.ingest.layouts.cells import HEADER, header_pattern, read_csv
from tapewise.ingest.layouts.descriptions import Layout, Line
from tapewise.ingest.layouts.keys import head_groups, read_json, read_pairs
from tapewise.ingest.layouts.records import make_records
from tapewise.ingest.records.columns import RECORD_SCHEMA
from tapewise.ingest.records.fields import bare_lines
from tapewise.ingest.records.format import BLANK, UNRECOGNISED, LineSettings, complete_records
from tapewise.ingest.records.further_facts import FURTHER_SCHEMA
from tapewise.ingest.records.joined_lines import reject_joined, reject_joined_objects


@dataclass(frozen=True)
class LayoutParser:
    """The `parse` function of a layout's format. Two parsers are equal if their layouts mean the same."""

    meaning: str = field(repr=False)
    layout: Layout = field(compare=False, repr=False)

    def __call__(self, lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
        """The record frame of the lines (see `tapewise.ingest.records.format`)."""
        return self.find_owners(lines, settings)[0]

    def find_owners(self, lines: pl.Series, settings: LineSettings) -> tuple[pl.DataFrame, pl.Series]:
        """The record frame and, for each line, the index of its kind; null if it is of none."""
        together = self._read(lines, settings)
        records = together.select(*RECORD_SCHEMA)
        if self.layout.line_start is not None:
            records = reject_joined(records, lines, self.layout.line_start, partial(self, settings=settings))
        elif self.layout.json_objects:
            records = reject_joined_objects(records, lines, partial(self._read, settings=settings))
        return records, together["owner"]

    def _read(self, lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
        """The record frame, with `owner`."""
        passed_over, kinds, rest = self.sort_lines(lines)
        # An empty frame takes milliseconds, as long as one with thousands of lines, so it is left out.
        parts = [_give_fate(own, ignored=reason) for reason, own in passed_over.items() if own.height]
        for index, own in kinds:
            kind = self.layout.lines[index]
            if kind.ignored is not None:
                found = _give_fate(own, ignored=kind.ignored)
            else:
                records = complete_records(own.height, make_records(self.layout, kind, own, settings))
                found = records.with_columns(own["row"])
            parts.append(found.with_columns(owner=pl.lit(index, pl.Int32)))
        if rest.height or not parts:
            parts.append(_give_fate(rest, rejected=UNRECOGNISED))
        return parts[0] if len(parts) == 1 else pl.concat(parts).sort("row")

    def sort_lines(
        self, lines: pl.Series, *, only_further: bool = False
    ) -> tuple[dict[str, pl.DataFrame], list[tuple[int, pl.DataFrame]], pl.DataFrame]:
        """Sort lines by their kind: those that are always ignored (by the reason), those of each kind (with
        its index), and the rest.

        Every frame has the lines' position (`row`) and text (`line`), and those of a kind also what its
        pattern matched or the line names (`groups`). With `only_further`, objects have only what is needed to
        know their kind and to make further facts.
        """
        rest = bare_lines(lines).with_row_index("row").collect()
        is_blank = rest["line"].str.strip_chars(" \t\r") == ""
        passed_over, rest = {BLANK: rest.filter(is_blank)}, rest.filter(~is_blank)
        if self.layout.csv is not None:
            is_header = rest["line"].str.contains(header_pattern(self.layout.csv))
            passed_over[HEADER], rest = rest.filter(is_header), rest.filter(~is_header)
        kinds = []
        if self.layout.has_keys and rest.height:
            keys, is_object = self.read_keys(rest["line"], only_further=only_further)
            objects, rest = rest.with_columns(keys.alias("groups")).filter(is_object), rest.filter(~is_object)
            is_free = pl.repeat(True, objects.height, eager=True)
            # An object is of the first kind whose values it has; a pattern is looked for in other lines only.
            for index, kind in enumerate(self.layout.lines):
                if kind.when is not None:
                    is_own = is_free & _has_values(objects["groups"], kind.when)
                    is_free &= ~is_own
                    if is_own.any():
                        kinds.append((index, objects.filter(is_own)))
            rest = pl.concat([rest, objects.filter(is_free).select("row", "line")])
        for index, kind in enumerate(self.layout.lines):
            if rest.is_empty():
                break
            if kind.when is not None:
                continue
            is_own, groups = _match(kind, rest)
            if is_own.any():
                kinds.append((index, rest.with_columns(groups.alias("groups")).filter(is_own)))
                rest = rest.filter(~is_own)
        return passed_over, kinds, rest

    def read_keys(self, lines: pl.Series, *, only_further: bool = False) -> tuple[pl.Series, pl.Series]:
        """The named values of lines, as a struct with a field for each path, and whether lines have such."""
        layout, head = self.layout, []
        if layout.head is not None:
            found = lines.str.extract_groups(rf"^(?:{layout.head})(?<matched>.*)$")
            head = [found.struct.field(name) for name in head_groups(layout.head)]
            lines = found.struct.field("matched").fill_null("")
        taken = {each.name for each in head}
        paths = sorted(self._list_paths(only_further=only_further) - taken)
        names = [layout.names.get(path, path) for path in paths]
        if layout.csv is not None:
            keys, is_object = read_csv(lines, names, layout.csv)
        elif layout.pairs is not None:
            keys, is_object = read_pairs(lines, names, layout.pairs)
        else:
            keys, is_object = read_json(lines, names)
        if not head and not layout.names:
            return keys, is_object
        values = [keys.struct.field(name).alias(path) for path, name in zip(paths, names, strict=True)]
        return pl.DataFrame([*head, *values]).to_struct("groups"), is_object

    def _list_paths(self, *, only_further: bool) -> set[str]:
        paths: set[str] = set()
        for kind in self.layout.lines:
            if kind.when is not None:
                facts = kind.list_facts()[1 if only_further else 0 :]
                paths |= kind.when.keys()
                paths |= {path for fact in facts for path in self.layout.paths_of(fact)}
        return paths


@dataclass(frozen=True)
class FurtherParser:
    """The `parse_further` function of a layout in which lines report several facts."""

    parser: LayoutParser

    def __call__(self, lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
        """The further facts of the lines (see `tapewise.ingest.records.further_facts`).

        A fact that lacks a value that its table needs is left out. If another value is not possible,
        `rejected` has the reason.
        """
        layout = self.parser.layout
        parts = [pl.DataFrame(schema=FURTHER_SCHEMA | {"rejected": pl.String()})]
        # Few lines have further facts, so most need not be sorted again.
        rows = self._find_candidates(lines)
        for index, own in self.parser.sort_lines(lines.gather(rows), only_further=True)[1]:
            for ordinal, fact in enumerate(layout.lines[index].list_facts()[1:], start=1):
                records = complete_records(own.height, make_records(layout, fact, own, settings))
                found = records.with_columns(
                    rows.gather(own["row"]).alias("row"),
                    ordinal=pl.lit(ordinal, pl.Int16),
                    table=pl.lit(fact.table),
                ).filter(pl.col("rejected").is_null() | (pl.col("rejected") != UNRECOGNISED))
                parts.append(found.select(parts[0].columns))
        return pl.concat(parts)

    def _find_candidates(self, lines: pl.Series) -> pl.Series:
        """The positions of all lines that may have further facts, and of some others."""
        texts: list[str] = []
        for kind in self.parser.layout.lines:
            if kind.also and not kind.when:
                return pl.int_range(len(lines), dtype=pl.UInt32, eager=True)
            if kind.also and kind.when:
                texts += next(iter(kind.when.values()))
        texts += [text.replace('"', '""') for text in texts]  # as cells contain them
        # JSON may write any sign of a text as an escape.
        return lines.str.contains_any([*texts, "\\"]).arg_true()


def _has_values(keys: pl.Series, when: Mapping[str, Collection[str]]) -> pl.Series:
    """Which objects have one of the texts at each of the paths."""
    has_values = pl.repeat(True, len(keys), eager=True)
    for path, texts in when.items():
        has_values &= keys.struct.field(path).is_in(list(texts)).fill_null(False)
    return has_values


def _match(kind: Line, lines: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Which of the lines are of this kind, and the groups of its pattern."""
    line = pl.col("line")
    marked = pl.when(line.str.contains(kind.mark, literal=True)).then(line) if kind.mark else line
    groups = lines.select(marked.str.extract_groups(kind.regex).alias("groups"))["groups"]
    return groups.struct.field("matched").is_not_null(), groups


def _give_fate(
    lines: pl.DataFrame, *, ignored: str | None = None, rejected: str | None = None
) -> pl.DataFrame:
    """The record frame of lines that all have this fate, with `row`, and a null `owner`."""
    fates = {"table": None, "ignored": ignored, "rejected": rejected}
    records = complete_records(
        lines.height,
        lines.lazy().with_columns(pl.lit(text, pl.String).alias(name) for name, text in fates.items()),
    )
    return records.with_columns(lines["row"], owner=pl.lit(None, pl.Int32))
