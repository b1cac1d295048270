CREATE VIEW mart.archive_summaries AS

WITH archives AS (
    SELECT * FROM mart.archives
),

sources AS (
    SELECT
        states.archive,
        count(*) AS source_count,
        max(states.last_event_at) AS data_until
    FROM mart.source_states AS states
    WHERE states.is_counted
    GROUP BY states.archive
),

transfers AS (
    SELECT
        cells.archive,
        sum(cells.transfer_count)::bigint AS transfer_count,
        min(cells.starts_on) AS first_on,
        max(cells.starts_on) AS last_on
    FROM mart.day_cells AS cells
    GROUP BY cells.archive
)

SELECT
    archives.archive,
    archives.kind,
    archives.timezone,

    coalesce(sources.source_count, 0) AS source_count,
    coalesce(transfers.transfer_count, 0) AS transfer_count,

    sources.data_until,
    sources.data_until AT TIME ZONE archives.timezone AS data_until_local,
    transfers.first_on,
    transfers.last_on
FROM archives
LEFT JOIN sources ON archives.archive = sources.archive
LEFT JOIN transfers ON archives.archive = transfers.archive;
