"""The check of `tapewise doctor` for lines that two sources hold, and that therefore count twice.

Loads refuse such lines now, but a warehouse that was loaded by an older version may have some.
"""

from collections.abc import Iterator

import psycopg

from tapewise.checks import Finding

# Finds files, segments and landmarks with equal digests that two sources have both read as facts. A single
# line in common is not enough, because lines can be equal by chance.
_SELECT_DOUBLES = """
    WITH twins AS (
        SELECT one.id AS log_file_id, one.source_id, other.source_id AS other_id
        FROM ledger.log_files AS one JOIN ledger.log_files AS other USING (content_digest)
        WHERE one.source_id < other.source_id AND content_digest <> ''
            AND least(one.loaded_count + one.held_count, other.loaded_count + other.held_count) > 1
        UNION
        SELECT one.log_file_id, one.source_id, other.source_id
        FROM ledger.segments AS one JOIN ledger.segments AS other USING (digest)
        WHERE one.source_id < other.source_id AND one.fact_count > 1
        UNION
        SELECT one.log_file_id, one.source_id, other.source_id
        FROM ledger.landmarks AS one JOIN ledger.landmarks AS other USING (digest)
        WHERE one.source_id < other.source_id
            AND bit_count((one.fact_lines | other.fact_lines)::integer::bit(4)) > 1
    )
    SELECT archives.name, one.name, other.name, min(path), count(DISTINCT path) - 1
    FROM twins JOIN ledger.log_files ON log_files.id = log_file_id
    JOIN ledger.sources AS one ON one.id = twins.source_id
    JOIN ledger.sources AS other ON other.id = other_id AND other.archive_id = one.archive_id
    JOIN core.archives ON archives.id = one.archive_id
    WHERE NOT (one.is_shared OR other.is_shared)
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""


def check_doubles(connection: psycopg.Connection) -> Iterator[Finding]:
    """Check whether two sources of an archive hold the same lines. `connection` must be a loader's."""
    rows = connection.execute(_SELECT_DOUBLES).fetchall()
    for archive, one, other, path, more_count in rows:
        more = f" and {more_count:,} more file{'s' if more_count > 1 else ''}" if more_count else ""
        yield Finding(
            "doubles",
            "wrong",
            f"Sources '{one}' and '{other}' of archive '{archive}' hold the same lines, from {path}{more}:"
            " they count twice. Drop one of the two (`tapewise sources drop`), then load again the files that"
            " only that one had read. `tapewise sources replace` changes the format of the other.",
        )
    if not rows:
        yield Finding("doubles", "ok", "No two sources of an archive hold the same lines.")
