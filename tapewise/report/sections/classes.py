"""The workload classes of the last fitted model (k-means), which a report about files fits itself."""

from typing import TYPE_CHECKING

from tapewise.report.phrases import say_share
from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

# A class is spoken of only among this many requests in classes.
FEWEST_REQUESTS = 100
# The most frequent class is notable if it has this share of the requests, and at most this of the bytes.
MANY_REQUESTS = 0.5
FEW_BYTES = 0.1


def find(facts: Facts) -> Finding | None:
    """Look for a class with most of the requests and hardly any bytes."""
    request_count = sum(row["request_count"] for row in facts["classes"])
    if request_count < FEWEST_REQUESTS:
        return Finding(
            f"Too few requests in classes ({request_count}, not {FEWEST_REQUESTS}) to compare these", False
        )
    most = max(facts["classes"], key=lambda row: row["request_ratio"])
    sentence = (
        f"“{most['class_name']}” ({most['interface']}) are {say_share(most['request_ratio'])} of the requests"
        f" and {'an unknown share' if most['size_ratio'] is None else say_share(float(most['size_ratio']))}"
        " of the bytes"
    )
    if most["request_ratio"] < MANY_REQUESTS or most["size_ratio"] is None or most["size_ratio"] > FEW_BYTES:
        return Finding(f"No class has most of the requests and few bytes: {sentence}", False)
    return Finding(sentence, True)


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """A panel for gets and one for puts: the centre of each class, as large as its share of the requests."""
    import altair as alt

    from tapewise.report import charts

    drawn = [row for row in facts["classes"] if row["centroid_size_bytes"] > 0 and row["centroid_time_s"] > 0]
    present = {row["direction"] for row in drawn}
    return [
        charts.plot("classes", direction, height=200)
        .mark_point(color=colour, filled=False, opacity=1, strokeWidth=2)
        .encode(
            x=charts.sizes(
                alt.X,
                "centroid_size_bytes",
                "size of the file",
                [row["centroid_size_bytes"] for row in drawn],
            ),
            y=charts.times(alt.Y, "centroid_time_s", "time", [row["centroid_time_s"] for row in drawn]),
            size=alt.Size(
                "request_ratio:Q",
                title="share of the requests",
                scale=alt.Scale(domain=[0, 1], range=[10, 1500]),
                legend=alt.Legend(format=".0%", values=[0.05, 0.2, 0.5]),
            ),
            shape=alt.Shape("interface:N", title=None),
        )
        .transform_filter(f"datum.direction == '{direction}' && datum.centroid_size_bytes > 0")
        .transform_filter("datum.centroid_time_s > 0")
        for direction, colour in charts.DIRECTIONS.items()
        if direction in present
    ]


SECTION = Section(
    name="classes",
    question="What kinds of requests are there?",
    heading="Workload classes (k-means)",
    heads=(
        *("model", "interface", "direction", "class", "requests", "of all", "bytes", "of all"),
        *("size at its centre", "time at its centre", "from disk"),
    ),
    query="""
    SELECT model, interface, direction, class_name, request_count, request_ratio,
        size_bytes::double precision AS size_bytes, size_ratio, centroid_size_bytes, centroid_time_s,
        cached_ratio,
        -- A report about files fits a model itself, to the latest of too many transfers.
        CASE WHEN since = %(recent_since)s THEN since AT TIME ZONE timezone END AS counted_since
    FROM mart.workload_classes
    JOIN mart.workload_models USING (archive, model)
    JOIN mart.archives USING (archive)
    WHERE model = (
        SELECT model FROM mart.workload_models
        WHERE
            archive = %(archive)s
            -- Classes of another time would be taken for those of the period.
            AND (%(since)s::timestamptz IS NULL OR since >= %(since)s)
            AND (%(until)s::timestamptz IS NULL OR until <= %(until)s)
        ORDER BY fitted_at DESC, model
        LIMIT 1
    )
    ORDER BY request_count DESC, interface, direction, class_number
    """,
    needs=("transfers", "sizes", "durations or open_times"),
    silence="No workload model was fitted to requests of this period only: see `tapewise workload fit`.",
    is_ranged=False,
    find=find,
    draw=draw,
    caption=(
        "The centres of the classes that k-means finds in the logarithms of size and time, for each"
        " interface and direction. A report about files fits a model of its own; one about an archive has"
        " the latest model of requests of the period, or of a part of it. Requests of unknown size or time,"
        " or of 0 bytes, are in no class."
    ),
)
