"""The cartridges that a catalogue lists."""

from tapewise.report.section import Section

SECTION = Section(
    name="listed_volumes",
    question="Which cartridges are there, and how full are they?",
    heading="Cartridges of the latest listing, by state",
    heads=(
        *("state", "full", "cartridges", "blank", "files", "bytes", "capacity", "fill", "median fill"),
        "listed at",
    ),
    query="""
    WITH volumes AS (
        SELECT *, size_bytes::double precision / nullif(capacity_bytes, 0) AS fill
        FROM mart.snapshots
        WHERE archive = %(archive)s AND item_kind = 'volume'
            AND listed_at >= coalesce(%(since)s::timestamptz, '-infinity')
            AND listed_at < coalesce(%(until)s::timestamptz, 'infinity')
    ),
    latest AS (
        SELECT source, max(listed_at) AS listed_at
        FROM volumes
        GROUP BY source
    )
    -- If the number of one cartridge is not known, neither is the sum.
    SELECT state, is_full, count(*) AS volume_count,
        CASE WHEN bool_and(file_count IS NOT NULL) THEN count(*) FILTER (WHERE file_count = 0) END
            AS blank_count,
        CASE WHEN bool_and(file_count IS NOT NULL) THEN sum(file_count)::bigint END AS file_count,
        CASE WHEN bool_and(size_bytes IS NOT NULL) THEN sum(size_bytes) END AS size_bytes,
        CASE WHEN bool_and(capacity_bytes IS NOT NULL) THEN sum(capacity_bytes) END AS capacity_bytes,
        (sum(size_bytes) FILTER (WHERE fill IS NOT NULL))::double precision
            / nullif(sum(capacity_bytes) FILTER (WHERE fill IS NOT NULL), 0) AS fill_ratio,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY fill) AS fill_ratio_p50,
        to_char(max(listed_at) AT TIME ZONE min(timezone), 'YYYY-MM-DD HH24:MI') AS listed_local
    FROM volumes
    INNER JOIN latest USING (source, listed_at)
    GROUP BY state, is_full
    ORDER BY volume_count DESC, state, is_full
    """,
    needs=("snapshots",),
    note=(
        "Full cartridges take no more files. Blank ones have no files. Fill is bytes by capacity; files that"
        " were deleted may count in it."
    ),
    silence="No listing has cartridges.",
    needs_detail=True,
)
