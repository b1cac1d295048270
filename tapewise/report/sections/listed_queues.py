"""What waits for tape, according to listings of a catalogue."""

from tapewise.report.section import Section

SECTION = Section(
    name="listed_queues",
    question="What waits for tape?",
    heading="Queues of the latest listing, and the most that any listing has",
    heads=("task", "class", "queues", "files", "bytes", "oldest", "most files", "most bytes", "listed at"),
    query="""
    WITH queues AS (
        SELECT *
        FROM mart.snapshots
        WHERE archive = %(archive)s AND item_kind = 'queue'
            AND listed_at >= coalesce(%(since)s::timestamptz, '-infinity')
            AND listed_at < coalesce(%(until)s::timestamptz, 'infinity')
    ),
    latest AS (
        SELECT source, max(listed_at) AS last_listed_at
        FROM queues
        GROUP BY source
    ),
    -- If the number of one queue is not known, neither is the sum.
    listings AS (
        SELECT source, timezone, task, class_of_service, listed_at, last_listed_at, count(*) AS queue_count,
            CASE WHEN bool_and(file_count IS NOT NULL) THEN sum(file_count)::bigint END AS file_count,
            CASE WHEN bool_and(size_bytes IS NOT NULL) THEN sum(size_bytes) END AS size_bytes,
            extract(epoch FROM listed_at - min(since_at))::double precision AS oldest_s
        FROM queues
        INNER JOIN latest USING (source)
        GROUP BY source, timezone, task, class_of_service, listed_at, last_listed_at
    )
    -- A queue that the latest listing lacks is empty.
    SELECT task, class_of_service,
        coalesce(sum(queue_count) FILTER (WHERE listed_at = last_listed_at), 0)::bigint AS queue_count,
        CASE WHEN max(listed_at) < max(last_listed_at) THEN 0
            ELSE sum(file_count) FILTER (WHERE listed_at = last_listed_at) END::bigint AS file_count,
        CASE WHEN max(listed_at) < max(last_listed_at) THEN 0
            ELSE sum(size_bytes) FILTER (WHERE listed_at = last_listed_at) END AS size_bytes,
        max(oldest_s) FILTER (WHERE listed_at = last_listed_at) AS oldest_s,
        max(file_count) AS most_file_count, max(size_bytes) AS most_bytes,
        to_char(max(last_listed_at) AT TIME ZONE min(timezone), 'YYYY-MM-DD HH24:MI') AS listed_local
    FROM listings
    GROUP BY source, task, class_of_service
    ORDER BY oldest_s DESC NULLS LAST, size_bytes DESC NULLS LAST, task, class_of_service
    """,
    needs=("snapshots",),
    note="Oldest is since when the queue has been as listed, where the listing says so.",
    silence="No listing has queues.",
    needs_detail=True,
)
