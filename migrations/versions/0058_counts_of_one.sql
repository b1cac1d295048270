-- The arrays are sorted already, so elements keep the order of their places.
CREATE FUNCTION core.put_ones_last(elements anyarray, counts integer[]) RETURNS anyarray LANGUAGE sql IMMUTABLE
AS $function$
    SELECT coalesce(array_agg(element ORDER BY n = 1, place), elements)
    FROM unnest(elements, counts) WITH ORDINALITY AS part (element, n, place)
$function$;
CREATE FUNCTION core.drop_ones(counts integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE
AS $function$SELECT array_remove(counts, 1)$function$;

-- A change of type writes the table again, which leaves no room where rows were, and forgets the storage.
ALTER TABLE core.request_cells
    ALTER size_bins TYPE smallint[] USING core.put_ones_last(size_bins, size_counts),
    ALTER size_counts TYPE integer[] USING core.drop_ones(size_counts),
    ALTER duration_bins TYPE smallint[] USING core.put_ones_last(duration_bins, duration_counts),
    ALTER duration_counts TYPE integer[] USING core.drop_ones(duration_counts),
    ALTER wait_bins TYPE smallint[] USING core.put_ones_last(wait_bins, wait_counts),
    ALTER wait_counts TYPE integer[] USING core.drop_ones(wait_counts),
    ALTER size_bins SET STORAGE main,
    ALTER size_counts SET STORAGE main,
    ALTER duration_bins SET STORAGE main,
    ALTER duration_counts SET STORAGE main,
    ALTER wait_bins SET STORAGE main,
    ALTER wait_counts SET STORAGE main;

ALTER TABLE core.size_cells
    ALTER time_size_bins TYPE smallint[] USING core.put_ones_last(time_size_bins, time_counts),
    ALTER time_bins TYPE smallint[] USING core.put_ones_last(time_bins, time_counts),
    ALTER time_counts TYPE integer[] USING core.drop_ones(time_counts),
    ALTER time_size_bins SET STORAGE main,
    ALTER time_bins SET STORAGE main,
    ALTER time_counts SET STORAGE main;

ALTER TABLE core.user_cells
    ALTER user_ids TYPE integer[] USING core.put_ones_last(user_ids, request_counts),
    ALTER size_bytes TYPE numeric[] USING core.put_ones_last(size_bytes, request_counts),
    ALTER request_counts TYPE integer[] USING core.drop_ones(request_counts),
    ALTER user_ids SET STORAGE main,
    ALTER size_bytes SET STORAGE main,
    ALTER request_counts SET STORAGE main;

DROP FUNCTION core.put_ones_last(anyarray, integer[]);
DROP FUNCTION core.drop_ones(integer[]);
