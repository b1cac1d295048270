CREATE FUNCTION mart.in_words(
    value double precision,
    unit text
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- A number is rounded to what is shown of it before its unit is chosen, so that nothing is 1000.0 kB.
SELECT
    CASE
        WHEN in_words.unit = 'bytes'
            THEN CASE
                WHEN abs(in_words.value) < 999.5 THEN to_char(in_words.value, 'FM990') || ' bytes'
                WHEN abs(in_words.value) < 999.95e3 THEN to_char(in_words.value / 1e3, 'FM990.0') || ' kB'
                WHEN abs(in_words.value) < 999.95e6 THEN to_char(in_words.value / 1e6, 'FM990.0') || ' MB'
                WHEN abs(in_words.value) < 999.95e9 THEN to_char(in_words.value / 1e9, 'FM990.0') || ' GB'
                WHEN abs(in_words.value) < 999.95e12 THEN to_char(in_words.value / 1e12, 'FM990.0') || ' TB'
                ELSE to_char(in_words.value / 1e15, 'FM999,999,990.0') || ' PB'
            END
        WHEN in_words.unit = 's'
            THEN CASE
                WHEN abs(in_words.value) < 9.995 THEN to_char(in_words.value, 'FM0.00') || ' s'
                WHEN abs(in_words.value) < 99.95 THEN to_char(in_words.value, 'FM90.0') || ' s'
                WHEN abs(in_words.value) < 3570 THEN to_char(in_words.value / 60, 'FM90.0') || ' min'
                WHEN abs(in_words.value) < 172800 THEN to_char(in_words.value / 3600, 'FM90.0') || ' h'
                ELSE to_char(in_words.value / 86400, 'FM999,990.0') || ' days'
            END
        WHEN in_words.unit = 'ratio' THEN to_char(in_words.value * 100, 'FM999,990.0') || ' ' || chr(37)
        WHEN in_words.unit = 'h' THEN to_char(in_words.value, 'FM999,990.0') || ' h'
        ELSE
            concat_ws(
                ' ',
                to_char(
                    in_words.value,
                    CASE
                        WHEN in_words.value = trunc(in_words.value) THEN 'FM999,999,999,999,990'
                        ELSE 'FM999,999,999,990.0'
                    END
                ),
                in_words.unit
            )
    END
WHERE in_words.value IS NOT NULL

$function$;
