-- A bin was the first 18 bits of a float. It is now counted from that of 2^-256, and all below are in bin 0.
CREATE FUNCTION core.new_bin(bin integer) RETURNS smallint LANGUAGE sql IMMUTABLE
AS 'SELECT CASE WHEN bin IS NOT NULL THEN least(greatest(bin - 49088, 0), 32767) END::smallint';
CREATE FUNCTION core.new_bins(bins integer[]) RETURNS smallint[] LANGUAGE sql IMMUTABLE AS $function$
    SELECT coalesce(array_agg(number ORDER BY number), '{}')
    FROM (SELECT DISTINCT core.new_bin(bin) AS number FROM unnest(bins) AS part (bin)) AS numbers
$function$;
CREATE FUNCTION core.new_counts(bins integer[], counts bigint[]) RETURNS integer[] LANGUAGE sql IMMUTABLE
AS $function$
    SELECT coalesce(array_agg(total ORDER BY number), '{}')
    FROM (
        SELECT core.new_bin(bin) AS number, sum(n)::integer AS total
        FROM unnest(bins, counts) AS part (bin, n) GROUP BY core.new_bin(bin)
    ) AS numbers
$function$;
-- 2^17 times the bin of the size, plus that of the duration.
CREATE FUNCTION core.new_time_bins(bins integer[]) RETURNS smallint[] LANGUAGE sql IMMUTABLE AS $function$
    SELECT coalesce(array_agg(number ORDER BY size_bin, number), '{}')
    FROM (
        SELECT DISTINCT bin >> 17 AS size_bin, core.new_bin(bin & 131071) AS number FROM unnest(bins) AS part (bin)
    ) AS numbers
$function$;
CREATE FUNCTION core.new_time_size_bins(bins integer[]) RETURNS smallint[] LANGUAGE sql IMMUTABLE AS $function$
    SELECT coalesce(array_agg(size_bin::smallint ORDER BY size_bin, number), '{}')
    FROM (
        SELECT DISTINCT bin >> 17 AS size_bin, core.new_bin(bin & 131071) AS number FROM unnest(bins) AS part (bin)
    ) AS numbers
$function$;
CREATE FUNCTION core.new_time_counts(bins integer[], counts integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE
AS $function$
    SELECT coalesce(array_agg(total ORDER BY size_bin, number), '{}')
    FROM (
        SELECT bin >> 17 AS size_bin, core.new_bin(bin & 131071) AS number, sum(n)::integer AS total
        FROM unnest(bins, counts) AS part (bin, n) GROUP BY bin >> 17, core.new_bin(bin & 131071)
    ) AS numbers
$function$;
-- Minutes since 1970 become minutes after the day begins in UTC.
CREATE FUNCTION core.new_offsets(day date, ten_minutes integer[]) RETURNS smallint[] LANGUAGE sql IMMUTABLE
AS $function$
    SELECT coalesce(array_agg((minute - (day - date '1970-01-01') * 1440)::smallint ORDER BY minute), '{}')
    FROM unnest(ten_minutes) AS part (minute)
$function$;

ALTER TABLE core.day_cells DROP ten_minute_marks;
DROP FUNCTION core.mark_ten_minutes(date, integer[]);
ALTER TABLE core.day_cells
    ALTER ten_minutes TYPE smallint[] USING core.new_offsets(day, ten_minutes),
    -- PostgreSQL 18 names this constraint after the column.
    ALTER ten_minutes DROP NOT NULL;
ALTER TABLE core.day_cells RENAME ten_minutes TO ten_minute_offsets;
ALTER TABLE core.day_cells ALTER ten_minute_offsets SET NOT NULL;
CREATE FUNCTION core.mark_ten_minutes(ten_minute_offsets smallint[]) RETURNS bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
            SELECT coalesce(bit_or(set_bit(B'0'::bit(336), (minute + 960) / 10, 1)), B'0'::bit(336))
            FROM unnest(ten_minute_offsets) AS minute
            WHERE minute BETWEEN -960 AND 2399
        $function$;
COMMENT ON FUNCTION core.mark_ten_minutes(smallint[]) IS
    'One bit for each ten minutes of 56 hours, from 16 hours before the day begins in UTC';
REVOKE ALL ON FUNCTION core.mark_ten_minutes(smallint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.mark_ten_minutes(smallint[]) TO tapewise_loader;
CREATE FUNCTION core.new_age_bins(bins integer[]) RETURNS smallint[] LANGUAGE sql IMMUTABLE AS $function$
    SELECT coalesce(array_agg(core.new_bin(bin) ORDER BY place), '{}')
    FROM unnest(bins) WITH ORDINALITY AS part (bin, place)
$function$;

ALTER TABLE core.size_cells ADD time_size_bins smallint[];
UPDATE core.size_cells SET time_size_bins = core.new_time_size_bins(time_bins);
-- Ages are not so short that bins become one. The bin of unknown ages is null.
ALTER TABLE studies.file_days ALTER age_bins TYPE smallint[] USING core.new_age_bins(age_bins);

-- Arrays that stay in their rows take less space than in a table of their own.
ALTER TABLE core.day_cells
    ALTER rate_bins TYPE smallint[] USING core.new_bins(rate_bins),
    ALTER rate_counts TYPE integer[] USING core.new_counts(rate_bins, rate_counts),
    ALTER hour_transfer_counts TYPE integer[],
    ALTER hour_failed_counts TYPE integer[],
    ALTER hour_unknown_size_counts TYPE integer[],
    ALTER rest_size_counts TYPE integer[],
    ALTER rest_saturated_counts TYPE integer[],
    ADD ten_minute_marks BIT(336) STORAGE plain GENERATED ALWAYS AS (core.mark_ten_minutes(ten_minute_offsets)) STORED NOT NULL,
    ALTER hours SET STORAGE main,
    ALTER hour_transfer_counts SET STORAGE main,
    ALTER hour_failed_counts SET STORAGE main,
    ALTER hour_size_bytes SET STORAGE main,
    ALTER hour_unknown_size_counts SET STORAGE main,
    ALTER rate_bins SET STORAGE main,
    ALTER rate_counts SET STORAGE main,
    ALTER largest SET STORAGE main,
    ALTER longest SET STORAGE main,
    ALTER ten_minute_offsets SET STORAGE main,
    ALTER ten_minute_counts SET STORAGE main,
    ALTER rest_size_bins SET STORAGE main,
    ALTER rest_size_counts SET STORAGE main,
    ALTER rest_saturated_counts SET STORAGE main,
    ALTER rest_size_bytes SET STORAGE main,
    SET (toast_tuple_target = 1024);

ALTER TABLE core.rate_months
    ALTER rate_bins TYPE smallint[] USING core.new_bins(rate_bins),
    ALTER rate_counts TYPE integer[] USING core.new_counts(rate_bins, rate_counts),
    ALTER rate_bins SET STORAGE main,
    ALTER rate_counts SET STORAGE main,
    SET (toast_tuple_target = 1024);

ALTER TABLE core.hour_months
    ALTER week_hours SET STORAGE main,
    ALTER transfer_counts SET STORAGE main,
    ALTER failed_counts SET STORAGE main,
    ALTER size_bytes SET STORAGE main,
    ALTER unknown_size_counts SET STORAGE main,
    SET (toast_tuple_target = 1024);

ALTER TABLE core.size_cells
    ALTER time_bins TYPE smallint[] USING core.new_time_bins(time_bins),
    ALTER time_counts TYPE integer[] USING core.new_time_counts(time_bins, time_counts),
    ALTER time_size_bins SET NOT NULL,
    ALTER size_bins SET STORAGE main,
    ALTER size_bytes SET STORAGE main,
    ALTER shortest_s SET STORAGE main,
    ALTER time_bins SET STORAGE main,
    ALTER time_counts SET STORAGE main,
    ALTER time_size_bins SET STORAGE main,
    SET (toast_tuple_target = 1024);

ALTER TABLE core.request_cells
    ALTER size_bins TYPE smallint[] USING core.new_bins(size_bins),
    ALTER size_counts TYPE integer[] USING core.new_counts(size_bins, size_counts),
    ALTER duration_bins TYPE smallint[] USING core.new_bins(duration_bins),
    ALTER duration_counts TYPE integer[] USING core.new_counts(duration_bins, duration_counts),
    ALTER wait_bins TYPE smallint[] USING core.new_bins(wait_bins),
    ALTER wait_counts TYPE integer[] USING core.new_counts(wait_bins, wait_counts),
    ALTER size_bins SET STORAGE main,
    ALTER size_counts SET STORAGE main,
    ALTER duration_bins SET STORAGE main,
    ALTER duration_counts SET STORAGE main,
    ALTER wait_bins SET STORAGE main,
    ALTER wait_counts SET STORAGE main,
    SET (toast_tuple_target = 1024);

ALTER TABLE core.hit_cells
    ALTER get_counts TYPE integer[],
    ALTER codes SET STORAGE main,
    ALTER get_counts SET STORAGE main,
    ALTER size_bytes SET STORAGE main,
    SET (toast_tuple_target = 1024);

ALTER TABLE core.user_cells
    ALTER request_counts TYPE integer[],
    ALTER user_ids SET STORAGE main,
    ALTER request_counts SET STORAGE main,
    ALTER size_bytes SET STORAGE main,
    SET (toast_tuple_target = 1024);

ALTER TABLE core.open_cells
    ALTER request_counts TYPE integer[],
    ALTER codes SET STORAGE main,
    ALTER request_counts SET STORAGE main,
    ALTER open_us SET STORAGE main,
    SET (toast_tuple_target = 1024);

ALTER TABLE core.stage_cells
    ALTER time_bins SET STORAGE main,
    ALTER stage_counts SET STORAGE main,
    ALTER failed_counts SET STORAGE main,
    SET (toast_tuple_target = 1024);

DROP FUNCTION core.new_bins(integer[]);
DROP FUNCTION core.new_counts(integer[], bigint[]);
DROP FUNCTION core.new_time_bins(integer[]);
DROP FUNCTION core.new_time_size_bins(integer[]);
DROP FUNCTION core.new_time_counts(integer[], integer[]);
DROP FUNCTION core.new_age_bins(integer[]);
DROP FUNCTION core.new_offsets(date, integer[]);
DROP FUNCTION core.new_bin(integer);
