CREATE FUNCTION mart.room_changes(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    source text,
    room text,
    library text,
    tape_type text,
    day_count integer,
    level double precision,
    used double precision,
    added double precision,
    intake_count bigint,
    eject_count bigint,
    observed_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH archives AS (
    SELECT * FROM mart.archives
),

volumes AS MATERIALIZED (
    SELECT
        snapshots.archive,
        snapshots.kind,
        snapshots.source,
        snapshots.location AS library,
        snapshots.tape_type,
        snapshots.vsn,
        -- What was deleted still fills a cartridge, until it is repacked.
        (
            coalesce(snapshots.size_bytes, snapshots.file_count) = 0 AND snapshots.is_full IS NOT TRUE
        )::integer AS is_blank,
        -- A full cartridge may hold less, or, compressed, more than its capacity.
        CASE
            WHEN snapshots.is_full OR snapshots.size_bytes > snapshots.capacity_bytes THEN 0
            ELSE snapshots.capacity_bytes - snapshots.size_bytes
        END AS free_bytes,
        snapshots.listed_at,
        (snapshots.listed_at AT TIME ZONE snapshots.timezone)::date AS observed_on
    FROM mart.snapshots
    WHERE
        snapshots.item_kind = 'volume'
        AND (room_changes.archive IS NULL OR snapshots.archive = room_changes.archive)
        AND snapshots.listed_at >= coalesce(room_changes.since, timestamptz '-infinity')
        AND snapshots.listed_at < coalesce(room_changes.until, timestamptz 'infinity')
),

-- The last listing of each local day, and the one before it.
listings AS (
    SELECT
        volumes.archive,
        volumes.source,
        volumes.observed_on,
        max(volumes.listed_at) AS listed_at,
        lag(volumes.observed_on) OVER in_time AS previous_on,
        lag(max(volumes.listed_at)) OVER in_time AS previous_at
    FROM volumes
    GROUP BY volumes.archive, volumes.source, volumes.observed_on
    WINDOW in_time AS (PARTITION BY volumes.archive, volumes.source ORDER BY volumes.observed_on)
),

-- Each cartridge of a listing, now and before; it also counts where it has just left.
sightings AS (
    SELECT
        listings.archive,
        listings.source,
        listings.observed_on,
        listings.previous_on,
        volumes.kind,
        volumes.vsn,
        volumes.library,
        volumes.tape_type,
        volumes.is_blank,
        volumes.free_bytes,
        volumes.listed_at = listings.listed_at AS is_now
    FROM listings
    INNER JOIN volumes
        ON
            listings.archive = volumes.archive
            AND listings.source = volumes.source
            AND volumes.listed_at IN (listings.listed_at, listings.previous_at)
),

-- A cartridge that moved from one library to another is ejected there, and taken in here.
cartridges AS (
    SELECT
        sightings.archive,
        sightings.kind,
        sightings.source,
        sightings.observed_on,
        sightings.previous_on,
        sightings.library,
        sightings.tape_type,
        sightings.vsn,
        max(sightings.is_blank) FILTER (WHERE sightings.is_now) AS is_blank,
        max(sightings.free_bytes) FILTER (WHERE sightings.is_now) AS free_bytes,
        max(sightings.is_blank) FILTER (WHERE NOT sightings.is_now) AS was_blank,
        max(sightings.free_bytes) FILTER (WHERE NOT sightings.is_now) AS free_before_bytes,
        bool_or(sightings.is_now) AS is_there,
        bool_or(NOT sightings.is_now) AS was_there
    FROM sightings
    GROUP BY
        sightings.archive,
        sightings.kind,
        sightings.source,
        sightings.observed_on,
        sightings.previous_on,
        sightings.library,
        sightings.tape_type,
        sightings.vsn
),

of_cartridges AS (
    SELECT
        cartridges.archive,
        cartridges.kind,
        cartridges.source,
        rooms.room,
        cartridges.library,
        cartridges.tape_type,
        cartridges.observed_on - cartridges.previous_on AS day_count,
        coalesce(sum(rooms.level), 0)::double precision AS level,
        coalesce(sum(rooms.level_before - rooms.level), 0)::double precision AS used,
        (
            coalesce(sum(rooms.level) FILTER (WHERE NOT cartridges.was_there), 0)
            - coalesce(sum(rooms.level_before) FILTER (WHERE NOT cartridges.is_there), 0)
        )::double precision AS added,
        count(*) FILTER (WHERE NOT cartridges.was_there) AS intake_count,
        count(*) FILTER (WHERE NOT cartridges.is_there) AS eject_count,
        cartridges.observed_on
    FROM cartridges
    CROSS JOIN
        LATERAL (
            VALUES
            ('blank cartridges', cartridges.is_blank::bigint, cartridges.was_blank::bigint),
            ('purchased capacity', cartridges.free_bytes, cartridges.free_before_bytes)
        ) AS rooms (room, level, level_before)
    WHERE coalesce(rooms.level, rooms.level_before) IS NOT NULL
    GROUP BY
        cartridges.archive,
        cartridges.kind,
        cartridges.source,
        rooms.room,
        cartridges.library,
        cartridges.tape_type,
        cartridges.observed_on,
        cartridges.previous_on
),

-- Slots are reported as counts of each part of a library. Cartridges that were taken in and ejected between
-- two reports are not seen.
slots AS (
    SELECT
        figures.archive,
        figures.kind,
        figures.source,
        figures.library,
        figures.reported_on - lag(figures.reported_on) OVER in_time AS day_count,
        figures.value AS level,
        lag(figures.value) OVER in_time - figures.value AS used,
        figures.reported_on AS observed_on
    FROM mart.daily_figures AS figures
    INNER JOIN archives ON figures.archive = archives.archive
    WHERE
        figures.section = 'free_slots'
        AND figures.figure = 'free_count'
        AND (room_changes.archive IS NULL OR figures.archive = room_changes.archive)
        AND figures.reported_on::timestamp AT TIME ZONE archives.timezone
        >= coalesce(room_changes.since, timestamptz '-infinity')
        AND figures.reported_on::timestamp AT TIME ZONE archives.timezone
        < coalesce(room_changes.until, timestamptz 'infinity')
    WINDOW
        in_time AS (
            PARTITION BY figures.archive, figures.source, figures.library ORDER BY figures.reported_on
        )
),

observations AS (
    SELECT * FROM of_cartridges
    UNION ALL
    SELECT
        slots.archive,
        slots.kind,
        slots.source,
        'free slots' AS room,
        slots.library,
        NULL AS tape_type,
        slots.day_count,
        slots.level,
        slots.used,
        0 AS added,
        greatest(slots.used, 0)::bigint AS intake_count,
        greatest(-slots.used, 0)::bigint AS eject_count,
        slots.observed_on
    FROM slots
)

-- Nothing is known about changes before the first observation.
SELECT
    observations.archive,
    observations.kind,
    observations.source,
    observations.room,
    observations.library,
    observations.tape_type,

    observations.day_count,
    observations.level,
    CASE WHEN observations.day_count IS NOT NULL THEN observations.used END AS used,
    CASE WHEN observations.day_count IS NOT NULL THEN observations.added END AS added,
    CASE WHEN observations.day_count IS NOT NULL THEN observations.intake_count END AS intake_count,
    CASE WHEN observations.day_count IS NOT NULL THEN observations.eject_count END AS eject_count,

    observations.observed_on
FROM observations

$function$;
