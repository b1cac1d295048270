CREATE FUNCTION core.old_minutes(day date, ten_minute_offsets smallint[]) RETURNS integer[]
LANGUAGE sql IMMUTABLE AS $function$
    SELECT coalesce(array_agg(minute + (day - date '1970-01-01') * 1440 ORDER BY minute), '{}')
    FROM unnest(ten_minute_offsets) AS part (minute)
$function$;
CREATE FUNCTION core.old_bins(bins smallint[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $function$
    SELECT coalesce(array_agg(CASE WHEN bin = 0 THEN 0 ELSE bin + 49088 END ORDER BY place), '{}')
    FROM unnest(bins) WITH ORDINALITY AS part (bin, place)
$function$;
CREATE FUNCTION core.old_time_bins(size_bins smallint[], bins smallint[]) RETURNS integer[]
LANGUAGE sql IMMUTABLE AS $function$
    SELECT coalesce(
        array_agg(131072 * size_bin + CASE WHEN bin = 0 THEN 0 ELSE bin + 49088 END ORDER BY place), '{}'
    )
    FROM unnest(size_bins, bins) WITH ORDINALITY AS part (size_bin, bin, place)
$function$;

ALTER TABLE studies.file_days ALTER age_bins TYPE integer[] USING core.old_bins(age_bins);

ALTER TABLE core.day_cells
    ALTER rate_bins TYPE integer[] USING core.old_bins(rate_bins),
    ALTER rate_counts TYPE bigint[] USING rate_counts::bigint[],
    ALTER hour_transfer_counts TYPE bigint[],
    ALTER hour_failed_counts TYPE bigint[],
    ALTER hour_unknown_size_counts TYPE bigint[],
    ALTER rest_size_counts TYPE bigint[],
    ALTER rest_saturated_counts TYPE bigint[],
    ALTER hours SET STORAGE extended,
    ALTER hour_transfer_counts SET STORAGE extended,
    ALTER hour_failed_counts SET STORAGE extended,
    ALTER hour_size_bytes SET STORAGE extended,
    ALTER hour_unknown_size_counts SET STORAGE extended,
    ALTER rate_bins SET STORAGE extended,
    ALTER rate_counts SET STORAGE extended,
    ALTER largest SET STORAGE extended,
    ALTER longest SET STORAGE extended,
    ALTER ten_minute_offsets SET STORAGE extended,
    ALTER ten_minute_counts SET STORAGE extended,
    ALTER rest_size_bins SET STORAGE extended,
    ALTER rest_size_counts SET STORAGE extended,
    ALTER rest_saturated_counts SET STORAGE extended,
    ALTER rest_size_bytes SET STORAGE extended,
    RESET (toast_tuple_target);

ALTER TABLE core.rate_months
    ALTER rate_bins TYPE integer[] USING core.old_bins(rate_bins),
    ALTER rate_counts TYPE bigint[] USING rate_counts::bigint[],
    ALTER rate_bins SET STORAGE extended,
    ALTER rate_counts SET STORAGE extended,
    RESET (toast_tuple_target);

ALTER TABLE core.hour_months
    ALTER week_hours SET STORAGE extended,
    ALTER transfer_counts SET STORAGE extended,
    ALTER failed_counts SET STORAGE extended,
    ALTER size_bytes SET STORAGE extended,
    ALTER unknown_size_counts SET STORAGE extended,
    RESET (toast_tuple_target);

ALTER TABLE core.size_cells
    ALTER time_bins TYPE integer[] USING core.old_time_bins(time_size_bins, time_bins),
    ALTER size_bins SET STORAGE extended,
    ALTER size_bytes SET STORAGE extended,
    ALTER shortest_s SET STORAGE extended,
    ALTER time_bins SET STORAGE extended,
    ALTER time_counts SET STORAGE extended,
    RESET (toast_tuple_target);

ALTER TABLE core.request_cells
    ALTER size_bins TYPE integer[] USING core.old_bins(size_bins),
    ALTER size_counts TYPE bigint[] USING size_counts::bigint[],
    ALTER duration_bins TYPE integer[] USING core.old_bins(duration_bins),
    ALTER duration_counts TYPE bigint[] USING duration_counts::bigint[],
    ALTER wait_bins TYPE integer[] USING core.old_bins(wait_bins),
    ALTER wait_counts TYPE bigint[] USING wait_counts::bigint[],
    ALTER size_bins SET STORAGE extended,
    ALTER size_counts SET STORAGE extended,
    ALTER duration_bins SET STORAGE extended,
    ALTER duration_counts SET STORAGE extended,
    ALTER wait_bins SET STORAGE extended,
    ALTER wait_counts SET STORAGE extended,
    RESET (toast_tuple_target);

ALTER TABLE core.hit_cells
    ALTER get_counts TYPE bigint[],
    ALTER codes SET STORAGE extended,
    ALTER get_counts SET STORAGE extended,
    ALTER size_bytes SET STORAGE extended,
    RESET (toast_tuple_target);

ALTER TABLE core.user_cells
    ALTER request_counts TYPE bigint[],
    ALTER user_ids SET STORAGE extended,
    ALTER request_counts SET STORAGE extended,
    ALTER size_bytes SET STORAGE extended,
    RESET (toast_tuple_target);

ALTER TABLE core.open_cells
    ALTER request_counts TYPE bigint[],
    ALTER codes SET STORAGE extended,
    ALTER request_counts SET STORAGE extended,
    ALTER open_us SET STORAGE extended,
    RESET (toast_tuple_target);

ALTER TABLE core.stage_cells
    ALTER time_bins SET STORAGE extended,
    ALTER stage_counts SET STORAGE extended,
    ALTER failed_counts SET STORAGE extended,
    RESET (toast_tuple_target);

ALTER TABLE core.day_cells DROP ten_minute_marks;
DROP FUNCTION core.mark_ten_minutes(smallint[]);
ALTER TABLE core.day_cells
    ALTER ten_minute_offsets TYPE integer[] USING core.old_minutes(day, ten_minute_offsets),
    ALTER ten_minute_offsets DROP NOT NULL;
ALTER TABLE core.day_cells RENAME ten_minute_offsets TO ten_minutes;
ALTER TABLE core.day_cells ALTER ten_minutes SET NOT NULL;
CREATE FUNCTION core.mark_ten_minutes(day date, ten_minutes integer[]) RETURNS bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
            SELECT coalesce(bit_or(set_bit(B'0'::bit(336), after / 10, 1)), B'0'::bit(336))
            FROM unnest(ten_minutes) AS minute
            CROSS JOIN LATERAL (
                SELECT minute - ((day - date '1970-01-01') * 1440 - 960) AS after
            ) AS placed
            WHERE after BETWEEN 0 AND 3359
        $function$;
COMMENT ON FUNCTION core.mark_ten_minutes(date, integer[]) IS
    'One bit for each ten minutes of 56 hours, from 16 hours before the day begins in UTC';
REVOKE ALL ON FUNCTION core.mark_ten_minutes(date, integer[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.mark_ten_minutes(date, integer[]) TO tapewise_loader;
ALTER TABLE core.day_cells ADD ten_minute_marks BIT(336)
    GENERATED ALWAYS AS (core.mark_ten_minutes(day, ten_minutes)) STORED NOT NULL;
ALTER TABLE core.size_cells DROP time_size_bins;

DROP FUNCTION core.old_bins(smallint[]);
DROP FUNCTION core.old_time_bins(smallint[], smallint[]);
DROP FUNCTION core.old_minutes(date, smallint[]);
