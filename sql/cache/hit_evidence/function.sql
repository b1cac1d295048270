CREATE FUNCTION mart.hit_evidence(
    codes bigint[],
    get_counts integer[],
    size_bytes numeric[]
) RETURNS TABLE (
    is_staged boolean,
    is_logged_as_cached boolean,
    has_persona boolean,
    open_floor_s integer,
    is_time_of_day_unknown boolean,
    is_size_saturated boolean,
    size_class text,
    is_joined boolean,
    days_ago integer,
    get_count bigint,
    size_bytes numeric
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- A code has its parts in this order, from the lowest bit (`HIT_CODE` in schema/writing/hit_cells.py).
SELECT
    entries.code & 1 = 1 AS is_staged,
    (ARRAY[FALSE, TRUE])[entries.code >> 1 & 3] AS is_logged_as_cached,
    entries.code >> 3 & 1 = 1 AS has_persona,
    nullif(entries.code >> 4 & 15, 0)::integer - 1 AS open_floor_s,
    entries.code >> 8 & 1 = 1 AS is_time_of_day_unknown,
    entries.code >> 9 & 1 = 1 AS is_size_saturated,
    (ARRAY['small', 'medium', 'large', 'huge'])[entries.code >> 10 & 7] AS size_class,
    (ARRAY[FALSE, TRUE])[entries.code >> 13 & 3] AS is_joined,
    (entries.code >> 15)::integer AS days_ago,

    entries.get_count::bigint AS get_count,
    entries.size_bytes
FROM (
    -- One function of three arrays in FROM would store its rows first, which costs more than the rest.
    SELECT
        unnest(hit_evidence.codes) AS code,
        unnest(hit_evidence.get_counts) AS get_count,
        unnest(hit_evidence.size_bytes) AS size_bytes
) AS entries

$function$;
