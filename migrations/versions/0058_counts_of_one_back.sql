CREATE FUNCTION core.add_ones(counts integer[], count integer) RETURNS integer[] LANGUAGE sql IMMUTABLE
AS $function$SELECT counts || array_fill(1, ARRAY[count - cardinality(counts)])$function$;
-- The elements in the order of two numbers.
CREATE FUNCTION core.put_in_order(elements anyarray, numbers integer[], others integer[]) RETURNS anyarray
LANGUAGE sql IMMUTABLE
AS $function$
    SELECT coalesce(array_agg(element ORDER BY number, other), elements)
    FROM unnest(elements, numbers, others) AS part (element, number, other)
$function$;

ALTER TABLE core.request_cells
    ALTER size_bins TYPE smallint[] USING core.put_in_order(size_bins, size_bins, NULL),
    ALTER size_counts TYPE integer[]
        USING core.put_in_order(core.add_ones(size_counts, cardinality(size_bins)), size_bins, NULL),
    ALTER duration_bins TYPE smallint[] USING core.put_in_order(duration_bins, duration_bins, NULL),
    ALTER duration_counts TYPE integer[]
        USING core.put_in_order(core.add_ones(duration_counts, cardinality(duration_bins)), duration_bins, NULL),
    ALTER wait_bins TYPE smallint[] USING core.put_in_order(wait_bins, wait_bins, NULL),
    ALTER wait_counts TYPE integer[]
        USING core.put_in_order(core.add_ones(wait_counts, cardinality(wait_bins)), wait_bins, NULL),
    ALTER size_bins SET STORAGE main,
    ALTER size_counts SET STORAGE main,
    ALTER duration_bins SET STORAGE main,
    ALTER duration_counts SET STORAGE main,
    ALTER wait_bins SET STORAGE main,
    ALTER wait_counts SET STORAGE main;

ALTER TABLE core.size_cells
    ALTER time_size_bins TYPE smallint[] USING core.put_in_order(time_size_bins, time_size_bins, time_bins),
    ALTER time_bins TYPE smallint[] USING core.put_in_order(time_bins, time_size_bins, time_bins),
    ALTER time_counts TYPE integer[] USING core.put_in_order(
        core.add_ones(time_counts, cardinality(time_bins)), time_size_bins, time_bins
    ),
    ALTER time_size_bins SET STORAGE main,
    ALTER time_bins SET STORAGE main,
    ALTER time_counts SET STORAGE main;

ALTER TABLE core.user_cells
    ALTER user_ids TYPE integer[] USING core.put_in_order(user_ids, user_ids, NULL),
    ALTER size_bytes TYPE numeric[] USING core.put_in_order(size_bytes, user_ids, NULL),
    ALTER request_counts TYPE integer[]
        USING core.put_in_order(core.add_ones(request_counts, cardinality(user_ids)), user_ids, NULL),
    ALTER user_ids SET STORAGE main,
    ALTER size_bytes SET STORAGE main,
    ALTER request_counts SET STORAGE main;

DROP FUNCTION core.add_ones(integer[], integer);
DROP FUNCTION core.put_in_order(anyarray, integer[], integer[]);
