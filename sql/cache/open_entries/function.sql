CREATE FUNCTION mart.open_entries(
    codes bigint[],
    request_counts integer[],
    open_us numeric[]
) RETURNS TABLE (
    bin integer,
    is_sized boolean,
    days_ago integer,
    request_count bigint,
    open_us numeric
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- A code has its parts in this order, from the lowest bit (`OPEN_CODE` in schema/writing/open_cells.py).
SELECT
    (entries.code & ((1::bigint << 40) - 1))::integer AS bin,
    entries.code >> 40 & 1 = 1 AS is_sized,
    (entries.code >> 41)::integer AS days_ago,

    entries.request_count::bigint AS request_count,
    entries.open_us
FROM
    unnest(open_entries.codes, open_entries.request_counts, open_entries.open_us) AS entries (
        code, request_count, open_us
    )

$function$;
