"""Which share of the requests and of the bytes each range of sizes has."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapewise.clustering.names import format_bytes
from tapewise.report.phrases import say_share
from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

# Bytes are concentrated if this share of the requests, or less, has half of them.
CONCENTRATED = 0.1
FEWEST_REQUESTS = 100


def find(facts: Facts) -> Finding | None:
    """Look for the largest size above which half of the bytes are, separately for gets and puts."""
    by_direction = {
        direction: [row for row in facts["size_shares"] if row["direction"] == direction]
        for direction in ("get", "put")
    }
    candidates = [
        (cut, direction, rows)
        for direction, rows in by_direction.items()
        if sum(row["request_count"] for row in rows) >= FEWEST_REQUESTS
        and (cut := _find_half(rows)) is not None
    ]
    if not candidates:
        if not any(row["size_from_bytes"] for row in facts["size_shares"]):
            return Finding("All files are empty", False)
        return Finding(f"Neither gets nor puts have {FEWEST_REQUESTS} requests with a known size", False)
    (requests_ratio, size_ratio, size_bytes), direction, _ = min(candidates, key=lambda found: found[0][0])
    sentence = (
        f"{say_share(requests_ratio)} of the {direction}s, those of {format_bytes(size_bytes)} or more, moved"
        f" {say_share(size_ratio)} of their bytes"
    )
    if requests_ratio > CONCENTRATED:
        return Finding(f"The bytes are not concentrated in few large files: {sentence}", False)
    return Finding(sentence[0].upper() + sentence[1:], True)


def _find_half(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float, float] | None:
    """Return the shares of requests and bytes, and the least size, of the largest bins with half of them."""
    request_count = sum(row["request_count"] for row in rows)
    size_bytes = sum(float(row["size_bytes"]) for row in rows)
    requests_above, bytes_above = 0, 0.0
    for row in sorted(rows, key=lambda row: float(row["size_from_bytes"]), reverse=True):
        requests_above += row["request_count"]
        bytes_above += float(row["size_bytes"])
        if size_bytes and bytes_above >= size_bytes / 2:
            return requests_above / request_count, bytes_above / size_bytes, float(row["size_from_bytes"])
    return None


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """A panel for gets and one for puts, each with shares of requests above shares of bytes."""
    import altair as alt

    from tapewise.report import charts

    present = {row["direction"] for row in facts["size_shares"]}
    edges_bytes = [
        float(row[column])
        for row in facts["size_shares"]
        for column in ("size_from_bytes", "size_to_bytes")
        if row["size_from_bytes"]
    ]
    if not edges_bytes:
        return []
    panels: list[altair.TopLevelMixin] = []
    for direction, colour in charts.DIRECTIONS.items():
        if direction not in present:
            continue
        rows = [
            charts.plot("size_shares", f"share of {what}, {direction}", height=95)
            .mark_bar(color=colour)
            .encode(
                x=charts.sizes(alt.X, "size_from_bytes", "size of the file", edges_bytes),
                x2="size_to_bytes:Q",
                y2=alt.datum(0),
                y=alt.Y(f"{column}:Q", title=None, axis=charts.share_axis()),
            )
            .transform_filter(f"datum.direction == '{direction}' && datum.size_from_bytes > 0")
            for column, what in (("request_ratio", "requests"), ("size_ratio", "bytes"))
        ]
        panels.append(alt.vconcat(*rows, spacing=14))
    return panels


SECTION = Section(
    name="size_shares",
    question="Which files make the requests, and which make the bytes?",
    heading="Sizes by requests and by bytes",
    query="""
    WITH bins AS (
        SELECT direction, unnest(size_bins) AS bin, unnest(size_counts) AS bin_count
        FROM mart.selected_request_days(archive => %(archive)s, since => %(since)s, until => %(until)s)
    ),
    -- Three ranges in each power of ten: 1, 2 and 5 times it.
    placed AS (
        SELECT direction, mart.histogram_value(bin) AS middle_bytes,
            mart.size_bin(mart.histogram_value(bin)::bigint) AS size_bin,
            sum(bin_count) AS bin_count
        FROM bins
        GROUP BY direction, bin
    )
    SELECT direction, mart.size_bin_edge(size_bin) AS size_from_bytes,
        mart.size_bin_edge(size_bin + 1) AS size_to_bytes, sum(bin_count)::bigint AS request_count,
        sum(bin_count * middle_bytes) AS size_bytes,
        (sum(bin_count) / sum(sum(bin_count)) OVER of_direction)::double precision AS request_ratio,
        sum(bin_count * middle_bytes)
        / nullif(sum(sum(bin_count * middle_bytes)) OVER of_direction, 0) AS size_ratio
    FROM placed
    GROUP BY direction, size_bin
    WINDOW of_direction AS (PARTITION BY direction)
    ORDER BY direction, size_bin
    """,
    needs=("transfers", "sizes"),
    silence="No request of a known size succeeded.",
    find=find,
    draw=draw,
    caption=(
        "Successful requests whose size is known, by ranges with edges at 1, 2 and 5 times each power of"
        " ten. Sizes are read from a histogram, so bytes are within 1 %, and a file within 1 % of an edge"
        " may be counted on its other side. Empty files count as requests, but are not drawn."
    ),
)
