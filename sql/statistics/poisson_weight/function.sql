CREATE FUNCTION mart.poisson_weight(
    replicate bigint,
    block_number bigint
) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- The first 32 bits of a digest are evenly distributed over 0 to 1. The bounds are the cumulative sums of the
-- Poisson distribution, e^-1 times 1, 2, 2 1/2, 2 2/3, ...; the weight is the number of bounds below the
-- value.
SELECT
    width_bucket(
        ('x' || left(md5(poisson_weight.replicate || ' ' || poisson_weight.block_number), 8))::bit(32)::bigint
        / 4294967296.0::double precision,
        ARRAY[
            0.36787944117144233,
            0.73575888234288467,
            0.91969860292860584,
            0.98101184312384623,
            0.99634015317265634,
            0.99940581518241834,
            0.99991675885071200,
            0.99998975080332540,
            0.99999887479740210
        ]::double precision[]
    )

$function$;
