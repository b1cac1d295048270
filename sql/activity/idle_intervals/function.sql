CREATE FUNCTION mart.idle_intervals(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    shortest_s double precision DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    last_transfer_id bigint,
    last_interface text,
    last_direction text,
    last_client text,
    next_transfer_id bigint,
    next_interface text,
    next_direction text,
    next_client text,
    outage_notes text,
    idle_s double precision,
    explained_s double precision,
    explained_ratio double precision,
    hour_unknown_count bigint,
    is_explained boolean,
    is_edge boolean,
    is_time_ambiguous boolean,
    started_at timestamptz,
    ended_at timestamptz,
    started_local timestamp,
    ended_local timestamp
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- 1. ranges, archives, marks: what is read: a range with a margin, and marks for the transfers beyond.
-- 2. by_day, widths, days, pieces, points, steps, candidates, ways: the places where the ten minutes in which
--    transfers ended allow for a long gap, if that is what is asked for.
-- 3. asked_for, months, spans, nearby: all transfers of the range or, if only long gaps are asked for, those
--    around candidates.
-- 4. heard, neighbours, silences: in the order in which transfers began, a gap lies before each
--    transfer that began after all earlier ones had ended.
-- 5. recorded, parts, lengths: how much of each gap is covered by recorded outages, and what is left.
-- 6. hour_unknown: transfers whose time of day is unknown. They do not bound a gap, but may lie in one.
WITH counted AS NOT MATERIALIZED (
    SELECT * FROM mart.transfers
),

-- The bounds repeat those of `ranges` below, because partitions are pruned by arguments but not by columns of
-- a join. With `coalesce` instead of `IS NULL OR`, they are also pruned by times that are known only at
-- execution (now() - ...).
transfers AS NOT MATERIALIZED (
    SELECT counted.*
    FROM counted
    WHERE
        NOT counted.is_time_of_day_unknown
        AND counted.ended_at
        >= coalesce(idle_intervals.since, timestamptz '-infinity')
        - greatest(idle_intervals.shortest_s, 86400) * interval '1 second'
        AND counted.ended_at
        < coalesce(idle_intervals.until, timestamptz 'infinity')
        + greatest(idle_intervals.shortest_s, 86400) * interval '1 second'
        AND (idle_intervals.interface IS NULL OR counted.interface = idle_intervals.interface)
        AND (idle_intervals.direction IS NULL OR counted.direction = idle_intervals.direction)
        AND (idle_intervals.client IS NULL OR counted.client = idle_intervals.client)
        AND (
            idle_intervals.class_of_service IS NULL
            OR counted.class_of_service = idle_intervals.class_of_service
        )
),

-- Not materialized, so that each part of the query reads only the cells that it asks for.
cells AS NOT MATERIALIZED (
    SELECT * FROM mart.activity_cells
),

outages AS (
    SELECT * FROM mart.outages
),

-- The query reads from first_at up to last_at, which adds a margin to both sides of the range. A gap across
-- an edge of the range is then whole, and a transfer that was under way at `until` is found by its end. The
-- margin is a day, or `shortest_s` if that is longer. archive_number exists because names take twice as long
-- to sort.
ranges AS (
    SELECT
        archives.archive,
        archives.kind,
        archives.timezone,
        archives.retained_since,
        row_number() OVER (ORDER BY archives.archive) AS archive_number,
        coalesce(idle_intervals.since, timestamptz '-infinity')
        - greatest(idle_intervals.shortest_s, 86400) * interval '1 second' AS first_at,
        coalesce(idle_intervals.until, timestamptz 'infinity')
        + greatest(idle_intervals.shortest_s, 86400) * interval '1 second' AS last_at
    FROM mart.archives
    WHERE idle_intervals.archive IS NULL OR archives.archive = idle_intervals.archive
),

-- Times that an archive has forgotten have cells but no transfers. This is not silence, so these times are
-- not reported, and no gap begins before they end. (`greatest` ignores nulls.)
archives AS (
    SELECT
        ranges.archive,
        ranges.kind,
        ranges.timezone,
        ranges.archive_number,
        greatest(ranges.first_at, ranges.retained_since) AS first_at,
        ranges.last_at
    FROM ranges
),

-- Where the log extends before first_at or after last_at, a mark there stands for the transfers that are not
-- read. Without it, a silence of weeks around the range would have no row. A mark has no transfer_id, and a
-- gap that it bounds is an edge. A cell that contains last_at may have transfers after last_at, which is
-- enough for a mark. A filter by client or class is not applied here, because cells do not distinguish
-- clients and classes. EXISTS would become a join that reads all cells, so the first one found is taken, with
-- bounds on both sides.
marks AS (
    SELECT
        archives.archive_number,
        archives.first_at AS marked_at
    FROM archives
    WHERE
        (
            SELECT TRUE
            FROM cells
            WHERE
                cells.archive = archives.archive
                AND cells.cell_at < archives.first_at
                AND cells.cell_at > timestamptz '-infinity'
                AND (idle_intervals.interface IS NULL OR cells.interface = idle_intervals.interface)
                AND (idle_intervals.direction IS NULL OR cells.direction = idle_intervals.direction)
            LIMIT 1  -- noqa: AM09
        )
    UNION ALL
    SELECT
        archives.archive_number,
        archives.last_at AS marked_at
    FROM archives
    WHERE
        (
            SELECT TRUE
            FROM cells
            WHERE
                cells.archive = archives.archive
                AND cells.cell_at > archives.last_at - interval '10 minutes'
                AND cells.cell_at < timestamptz 'infinity'
                AND (idle_intervals.interface IS NULL OR cells.interface = idle_intervals.interface)
                AND (idle_intervals.direction IS NULL OR cells.direction = idle_intervals.direction)
            LIMIT 1  -- noqa: AM09
        )
),

-- The ten minutes in which transfers ended, of all routes of a day together.
by_day AS (
    SELECT
        archives.archive_number,
        bit_or(selected.ten_minute_marks) AS ten_minute_marks,
        sum(selected.day_only_count)::bigint AS day_only_count,
        selected.starts_on
    FROM
        mart.selected_days(
            archive => idle_intervals.archive,
            since => idle_intervals.since - greatest(idle_intervals.shortest_s, 86400) * interval '1 second',
            until => idle_intervals.until + greatest(idle_intervals.shortest_s, 86400) * interval '1 second',
            interface => idle_intervals.interface,
            direction => idle_intervals.direction,
            class_of_service => idle_intervals.class_of_service
        ) AS selected
    INNER JOIN archives
        ON
            selected.archive = archives.archive
            AND selected.starts_on >= (archives.first_at AT TIME ZONE archives.timezone)::date
    GROUP BY archives.archive_number, selected.starts_on
),

-- Each bit is for ten minutes in UTC. It is set if ten minutes of the local clock with transfers begin in
-- them. Where clocks differ from UTC by a multiple of ten minutes, these are the same. Otherwise, a transfer
-- may have ended up to ten minutes later.
widths AS (
    SELECT
        by_day.*,
        CASE
            WHEN
                mod(extract(EPOCH FROM bounds.starts_at)::bigint, 600) = 0
                AND mod(extract(EPOCH FROM bounds.ends_at)::bigint, 600) = 0
                THEN 600
            ELSE 1200
        END AS longest_s
    FROM by_day
    INNER JOIN archives ON by_day.archive_number = archives.archive_number
    CROSS JOIN
        LATERAL (
            VALUES (
                by_day.starts_on::timestamp AT TIME ZONE archives.timezone,
                (by_day.starts_on + 1)::timestamp AT TIME ZONE archives.timezone
            )
        ) AS bounds (starts_at, ends_at)
),

-- The bits of a day as text, up to the last one that is set, and how many empty bits are between two set ones
-- where there may be a gap of shortest_s. (A day has 336 bits.)
days AS (
    SELECT
        widths.archive_number,
        widths.longest_s,
        rtrim(widths.ten_minute_marks::text, '0') AS bits,
        least(floor((idle_intervals.shortest_s - widths.longest_s) / 600), 336)::integer AS least_count,
        widths.starts_on
    FROM widths
),

-- The text before a set bit is as long as its distance from the bit before.
pieces AS (
    SELECT
        days.archive_number,
        days.longest_s,
        days.least_count,
        days.starts_on,
        length(days.bits) AS bit_count,
        piece.number AS piece_number,
        length(piece.text) AS empty_count,
        sum(length(piece.text) + 1) OVER (
            PARTITION BY days.archive_number, days.starts_on ORDER BY piece.number
        ) - 1 AS bit_number
    FROM days
    CROSS JOIN string_to_table(days.bits, '1') WITH ORDINALITY AS piece (text, number)
    WHERE strpos(days.bits, '1' || repeat('0', days.least_count)) > 0
),

-- The ten minutes before and after which there may be a gap: the first and the last of each day, and those
-- within a day. A mark is both. What ended at a point did so less than longest_s later: a mark ended exactly
-- at it, so less than a microsecond later.
points AS (
    SELECT
        placed.archive_number,
        placed.longest_s,
        placed.is_last,
        to_timestamp(
            ((placed.starts_on - date '1970-01-01') * 1440 - 960 + placed.bit_number * 10) * 60::bigint
        ) AS point_at
    FROM (
        SELECT
            days.archive_number,
            days.longest_s,
            edge.is_last,
            edge.bit_number,
            days.starts_on
        FROM days
        CROSS JOIN
            LATERAL (
                VALUES (FALSE, strpos(days.bits, '1') - 1), (TRUE, length(days.bits) - 1)
            ) AS edge (is_last, bit_number)
        WHERE days.bits <> ''
        UNION ALL
        SELECT
            pieces.archive_number,
            pieces.longest_s,
            edge.is_last,
            edge.bit_number,
            pieces.starts_on
        FROM pieces
        CROSS JOIN
            LATERAL (
                VALUES (FALSE, pieces.bit_number), (TRUE, pieces.bit_number - pieces.empty_count - 1)
            ) AS edge (is_last, bit_number)
        WHERE
            pieces.empty_count >= pieces.least_count
            AND pieces.piece_number > 1
            AND pieces.bit_number < pieces.bit_count
    ) AS placed
    UNION ALL
    SELECT
        marks.archive_number,
        0.000001 AS longest_s,
        role.is_last,
        marks.marked_at AS point_at
    FROM marks
    CROSS JOIN (VALUES (FALSE), (TRUE)) AS role (is_last)
),

steps AS (
    SELECT
        points.archive_number,
        points.is_last,
        points.point_at AS from_at,
        lead(points.point_at + points.longest_s * interval '1 second') OVER (
            PARTITION BY points.archive_number ORDER BY points.point_at, points.is_last
        ) AS near_until
    FROM points
),

-- A gap begins in the ten minutes after from_at, when the last transfer before it ends, and is over before
-- the next transfer ends, which is before near_until. So a gap of shortest_s lies in one of these steps.
candidates AS (
    SELECT
        steps.archive_number,
        steps.from_at,
        steps.near_until
    FROM steps
    WHERE
        steps.is_last
        AND steps.near_until - steps.from_at > idle_intervals.shortest_s * interval '1 second'
),

-- Shorter gaps can lie between any two cells. With many candidates, reading all transfers is faster. The
-- cells do not distinguish clients.
ways AS (
    SELECT
        CASE
            WHEN idle_intervals.shortest_s >= 1200 AND idle_intervals.client IS NULL
                THEN (SELECT count(*) FROM candidates) <= 1000
            ELSE FALSE
        END AS is_by_cells
),

-- A failed transfer counts, because the archive answered.
asked_for AS (
    SELECT
        archives.archive_number,
        transfers.transfer_id,
        transfers.interface,
        transfers.direction,
        transfers.client,
        transfers.is_time_ambiguous,
        coalesce(transfers.started_at, transfers.ended_at) AS started_at,
        transfers.ended_at
    FROM transfers
    INNER JOIN archives ON transfers.archive = archives.archive
    WHERE NOT (SELECT ways.is_by_cells FROM ways)
),

-- The months after the first candidate, in UTC, as the partitions are.
months AS (
    SELECT
        bounds.archive_number,
        month.starts_at
    FROM (
        SELECT
            by_day.archive_number,
            (SELECT min(candidates.near_until) FROM candidates) AS first_at,
            max(by_day.starts_on) + 2 AS last_on
        FROM by_day
        GROUP BY by_day.archive_number
    ) AS bounds
    CROSS JOIN
        generate_series(
            date_add(date_trunc('month', bounds.first_at, 'UTC'), interval '1 month', 'UTC'),
            bounds.last_on::timestamp AT TIME ZONE 'UTC',
            interval '1 month',
            'UTC'
        ) AS month (starts_at)
),

-- What is read: the transfers that ended from from_at to near_until, and those that ended later, before
-- until_at, but were under way at near_until. For a candidate, until_at is the end of the month, because
-- transfers that were under way when a later month began are read once for all candidates.
spans AS (
    SELECT
        candidates.archive_number,
        candidates.from_at,
        candidates.near_until,
        date_add(date_trunc('month', candidates.near_until, 'UTC'), interval '1 month', 'UTC') AS until_at
    FROM candidates
    UNION ALL
    SELECT
        months.archive_number,
        months.starts_at AS from_at,
        months.starts_at AS near_until,
        date_add(months.starts_at, interval '1 month', 'UTC') AS until_at
    FROM months
),

-- MATERIALIZED makes PostgreSQL look for them span by span, with the BRIN index. The comparison with
-- -infinity makes it expect few of them, and so use the index. A transfer in two spans is found twice, which
-- does not matter: the second is not later than the first. (sqlfluff takes the query inside LATERAL for one
-- that could precede it.)
nearby AS (
    SELECT
        spans.archive_number,
        found.transfer_id,
        found.interface,
        found.direction,
        found.client,
        found.is_time_ambiguous,
        coalesce(found.started_at, found.ended_at) AS started_at,
        found.ended_at
    FROM spans
    INNER JOIN archives ON spans.archive_number = archives.archive_number
    CROSS JOIN
        LATERAL (  -- noqa: ST05
            WITH near AS MATERIALIZED (
                SELECT transfers.*
                FROM transfers
                WHERE
                    transfers.archive = archives.archive
                    AND transfers.ended_at >= spans.from_at
                    AND transfers.ended_at < spans.near_until
                UNION ALL
                SELECT transfers.*
                FROM transfers
                WHERE
                    transfers.archive = archives.archive
                    AND transfers.ended_at >= spans.near_until
                    AND transfers.ended_at < spans.until_at
                    AND transfers.started_at < spans.near_until
                    AND transfers.started_at >= timestamptz '-infinity'
            )

            SELECT near.* FROM near
        ) AS found
    WHERE (SELECT ways.is_by_cells FROM ways)
),

activity AS (
    SELECT asked_for.*
    FROM asked_for
    UNION ALL
    SELECT nearby.*
    FROM nearby
    UNION ALL
    SELECT
        marks.archive_number,
        NULL AS transfer_id,
        NULL AS interface,
        NULL AS direction,
        NULL AS client,
        FALSE AS is_time_ambiguous,
        marks.marked_at AS started_at,
        marks.marked_at AS ended_at
    FROM marks
),

-- heard_until is the latest end of all transfers that began earlier, and null for the first. The end of the
-- previous transfer would not do, because a long transfer goes on while short ones begin and end. Ties are
-- broken by the contents of the log, so that the order of loading does not matter.
heard AS (
    SELECT
        activity.*,
        max(activity.ended_at) OVER (
            in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS heard_until
    FROM activity
    WINDOW
        in_order AS (
            PARTITION BY activity.archive_number
            ORDER BY
                activity.started_at,
                activity.ended_at,
                activity.interface,
                activity.direction,
                activity.client,
                activity.transfer_id
        )
),

-- A transfer that began and ended while another was under way is not next to a gap, so it is left out. Each
-- remaining transfer ended later than all before it, so the previous one is the one that ended at
-- heard_until.
neighbours AS (
    SELECT
        heard.*,
        lag(heard.transfer_id) OVER in_order AS last_transfer_id,
        lag(heard.interface) OVER in_order AS last_interface,
        lag(heard.direction) OVER in_order AS last_direction,
        lag(heard.client) OVER in_order AS last_client,
        lag(heard.is_time_ambiguous) OVER in_order AS is_last_ambiguous
    FROM heard
    WHERE heard.heard_until IS NULL OR heard.ended_at > heard.heard_until
    WINDOW in_order AS (PARTITION BY heard.archive_number ORDER BY heard.started_at, heard.ended_at)
),

-- A gap runs from heard_until until the next transfer began. One of zero length is not a gap, even if
-- `shortest_s` is 0.
silences AS (
    SELECT
        archives.archive,
        archives.kind,
        archives.timezone,
        neighbours.last_transfer_id,
        neighbours.last_interface,
        neighbours.last_direction,
        neighbours.last_client,
        neighbours.transfer_id AS next_transfer_id,
        neighbours.interface AS next_interface,
        neighbours.direction AS next_direction,
        neighbours.client AS next_client,
        neighbours.last_transfer_id IS NULL OR neighbours.transfer_id IS NULL AS is_edge,
        neighbours.is_last_ambiguous OR neighbours.is_time_ambiguous AS is_time_ambiguous,
        neighbours.heard_until AS started_at,
        neighbours.started_at AS ended_at,
        tstzrange(neighbours.heard_until, neighbours.started_at) AS silence
    FROM neighbours
    INNER JOIN archives ON neighbours.archive_number = archives.archive_number
    WHERE
        neighbours.started_at > neighbours.heard_until
        AND neighbours.started_at - neighbours.heard_until
        >= coalesce(idle_intervals.shortest_s, 600) * interval '1 second'
        AND neighbours.started_at > coalesce(idle_intervals.since, timestamptz '-infinity')
        AND neighbours.heard_until < coalesce(idle_intervals.until, timestamptz 'infinity')
        -- If both bounds are marks, no transfers of the client or class were read, and the client or class
        -- may not even exist.
        AND (
            coalesce(idle_intervals.client, idle_intervals.class_of_service) IS NULL
            OR neighbours.last_transfer_id IS NOT NULL
            OR neighbours.transfer_id IS NOT NULL
        )
        -- Between candidates, transfers were left out, so what looks like a gap there is none.
        AND (
            NOT (SELECT ways.is_by_cells FROM ways)
            OR EXISTS (
                SELECT FROM candidates
                WHERE
                    candidates.archive_number = neighbours.archive_number
                    AND candidates.from_at <= neighbours.heard_until
                    AND candidates.near_until >= neighbours.started_at
            )
        )
),

-- The union of each archive's outages, so that time covered by two of them counts once. An outage without an
-- end continues, because a range whose end is null is open.
recorded AS (
    SELECT
        outages.archive,
        range_agg(tstzrange(outages.started_at, outages.ended_at)) AS outage_times
    FROM outages
    GROUP BY outages.archive
),

-- Each gap in two parts: `*` gives the part inside outages, `-` the part outside them. An archive
-- without any outage has a null for outage_times, so no part of its gaps is explained.
parts AS (
    SELECT
        silences.*,
        recorded.outage_times * tstzmultirange(silences.silence) AS explained,
        coalesce(
            tstzmultirange(silences.silence) - recorded.outage_times, tstzmultirange(silences.silence)
        ) AS unexplained
    FROM silences
    LEFT JOIN recorded ON silences.archive = recorded.archive
),

-- The cells do not distinguish clients.
hour_unknown AS (
    SELECT
        archives.archive,
        by_day.day_only_count AS transfer_count,
        by_day.starts_on AS ended_on
    FROM by_day
    INNER JOIN archives ON by_day.archive_number = archives.archive_number
    WHERE by_day.day_only_count > 0
),

-- longest_unexplained is null where outages cover the whole gap.
lengths AS (
    SELECT
        parts.*,
        extract(EPOCH FROM parts.ended_at - parts.started_at)::double precision AS idle_s,
        (
            SELECT coalesce(sum(extract(EPOCH FROM upper(part.part) - lower(part.part))), 0)
            FROM unnest(parts.explained) AS part (part)
        )::double precision AS explained_s,
        (
            SELECT max(upper(part.part) - lower(part.part))
            FROM unnest(parts.unexplained) AS part (part)
        ) AS longest_unexplained,
        (
            SELECT string_agg(outages.note, '; ' ORDER BY outages.started_at, outages.note)
            FROM outages
            WHERE
                outages.archive = parts.archive
                AND tstzrange(outages.started_at, outages.ended_at) && parts.silence
        ) AS outage_notes,
        (
            SELECT coalesce(sum(hour_unknown.transfer_count), 0)
            FROM hour_unknown
            WHERE
                hour_unknown.archive = parts.archive
                AND hour_unknown.ended_on >= (parts.started_at AT TIME ZONE parts.timezone)::date
                AND hour_unknown.ended_on
                <= ((parts.ended_at - interval '1 microsecond') AT TIME ZONE parts.timezone)::date
        )::bigint AS hour_unknown_count
    FROM parts
)

SELECT
    lengths.archive,
    lengths.kind,
    lengths.last_transfer_id,
    lengths.last_interface,
    lengths.last_direction,
    lengths.last_client,
    lengths.next_transfer_id,
    lengths.next_interface,
    lengths.next_direction,
    lengths.next_client,
    lengths.outage_notes,

    lengths.idle_s,
    lengths.explained_s,
    lengths.explained_s / lengths.idle_s AS explained_ratio,
    lengths.hour_unknown_count,

    coalesce(
        lengths.longest_unexplained < coalesce(idle_intervals.shortest_s, 600) * interval '1 second', TRUE
    ) AS is_explained,
    lengths.is_edge,
    lengths.is_time_ambiguous,

    lengths.started_at,
    lengths.ended_at,
    lengths.started_at AT TIME ZONE lengths.timezone AS started_local,
    lengths.ended_at AT TIME ZONE lengths.timezone AS ended_local
FROM lengths

$function$;
