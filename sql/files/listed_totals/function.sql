CREATE FUNCTION mart.listed_totals(
    archive text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    item_kind text,
    class_of_service text,
    file_count numeric,
    size_bytes numeric,
    listed_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH totals AS (
    SELECT
        snapshots.archive,
        snapshots.kind,
        snapshots.item_kind,
        snapshots.class_of_service,
        -- If one item is not known, neither is the sum.
        CASE
            WHEN snapshots.item_kind = 'file' THEN count(*)::numeric
            WHEN bool_and(snapshots.file_count IS NOT NULL) THEN sum(snapshots.file_count)
        END AS file_count,
        CASE WHEN bool_and(snapshots.size_bytes IS NOT NULL) THEN sum(snapshots.size_bytes) END
            AS size_bytes,
        snapshots.listed_at
    FROM mart.snapshots
    WHERE
        snapshots.item_kind IN ('account', 'file')
        AND (listed_totals.archive IS NULL OR snapshots.archive = listed_totals.archive)
    GROUP BY
        snapshots.archive,
        snapshots.kind,
        snapshots.item_kind,
        snapshots.class_of_service,
        snapshots.listed_at
),

-- A listing of files may be of those on disk only, so accounts come first.
chosen AS (
    SELECT
        totals.*,
        min(totals.item_kind) OVER (PARTITION BY totals.archive) AS best_kind
    FROM totals
)

SELECT
    chosen.archive,
    chosen.kind,
    chosen.item_kind,
    chosen.class_of_service,

    chosen.file_count,
    chosen.size_bytes,

    chosen.listed_at
FROM chosen
WHERE chosen.item_kind = chosen.best_kind

$function$;
