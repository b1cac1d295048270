-- Stages counted by route, duration and local day, month and year: the table, rights, and the cells of the facts
-- that are there.

CREATE TABLE core.stage_cells (
    route_id INTEGER NOT NULL,
    span TEXT NOT NULL,
    starts_on DATE NOT NULL,
    untimed_count BIGINT NOT NULL,
    untimed_failed_count BIGINT NOT NULL,
    time_bins INTEGER[] NOT NULL,
    stage_counts BIGINT[] NOT NULL,
    failed_counts BIGINT[] NOT NULL,
    CONSTRAINT stage_cells_pkey PRIMARY KEY (route_id, span, starts_on),
    CONSTRAINT stage_cells_span_check CHECK (span in ('day', 'month', 'year')),
    CONSTRAINT stage_cells_route_id_fkey FOREIGN KEY(route_id) REFERENCES core.routes (id)
);

COMMENT ON TABLE core.stage_cells IS 'One row per route and local day, month or year with stages; derived';

GRANT SELECT, INSERT, UPDATE, DELETE ON core.stage_cells TO tapewise_loader;

-- All stages belong to gets. A source that is not counted may have no route yet.
INSERT INTO core.routes (source_id, interface, direction, class_of_service)
SELECT DISTINCT source_id, interface, 'get', class_of_service
FROM core.stages
ON CONFLICT (source_id, interface, direction, class_of_service) DO NOTHING;

INSERT INTO core.stage_cells
WITH days AS (
    SELECT
        stages.source_id,
        stages.interface,
        stages.class_of_service,
        (stages.staged_at AT TIME ZONE archives.timezone)::date AS day,
        CASE
            WHEN stages.duration_s < 10 THEN greatest(floor(stages.duration_s * 20), 0)
            -- Not "else": the least of a null and a number is the number.
            WHEN stages.duration_s >= 10 THEN 180 + floor(least(stages.duration_s, 1e9) * 2)
        END::integer AS time_bin,
        count(*) FILTER (WHERE NOT stages.is_failed) AS stage_count,
        count(*) FILTER (WHERE stages.is_failed) AS failed_count
    FROM core.stages
    JOIN core.archives ON archives.id = stages.archive_id
    GROUP BY 1, 2, 3, 4, 5
),
bins AS (
    SELECT
        days.source_id,
        days.interface,
        days.class_of_service,
        spans.span,
        spans.starts_on,
        days.time_bin,
        sum(days.stage_count)::bigint AS stage_count,
        sum(days.failed_count)::bigint AS failed_count
    FROM days
    CROSS JOIN LATERAL (
        VALUES
        ('day', days.day),
        ('month', date_trunc('month', days.day::timestamp)::date),
        ('year', date_trunc('year', days.day::timestamp)::date)
    ) AS spans (span, starts_on)
    GROUP BY 1, 2, 3, 4, 5, 6
)
SELECT
    routes.id,
    bins.span,
    bins.starts_on,
    coalesce(sum(bins.stage_count) FILTER (WHERE bins.time_bin IS NULL), 0),
    coalesce(sum(bins.failed_count) FILTER (WHERE bins.time_bin IS NULL), 0),
    coalesce(array_agg(bins.time_bin ORDER BY bins.time_bin) FILTER (WHERE bins.time_bin IS NOT NULL), '{}'),
    coalesce(array_agg(bins.stage_count ORDER BY bins.time_bin) FILTER (WHERE bins.time_bin IS NOT NULL), '{}'),
    coalesce(array_agg(bins.failed_count ORDER BY bins.time_bin) FILTER (WHERE bins.time_bin IS NOT NULL), '{}')
FROM bins
JOIN core.routes
    ON
        routes.source_id = bins.source_id
        AND routes.interface = bins.interface
        AND routes.direction = 'get'
        AND routes.class_of_service IS NOT DISTINCT FROM bins.class_of_service
GROUP BY routes.id, bins.span, bins.starts_on;
