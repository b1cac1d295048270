"""The counts of the ten minutes of a day cell as one number, which is faster to add up than arrays."""

from tapewise.migrations.statements import run

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    """Add the column, which the database computes from the ten minutes that are there."""
    run(
        """
        CREATE FUNCTION core.write_ten_minutes(day date, ten_minutes integer[], counts integer[])
        RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
            SELECT coalesce(
                string_agg(
                    lpad(total::text, 8, '0') || repeat('0', 8 * (place - place_below - 1)), ''
                    ORDER BY place DESC
                ),
                '0'
            )::numeric
            FROM (
                SELECT place, sum(count) AS total, lag(place, 1, -1) OVER (ORDER BY place) AS place_below
                FROM (
                    SELECT (minute - ((day - date '1970-01-01') * 1440 - 960)) / 10 AS place, count
                    FROM unnest(ten_minutes, counts) AS part (minute, count)
                ) AS placed
                GROUP BY place
            ) AS totals
        $function$;
        COMMENT ON FUNCTION core.write_ten_minutes(date, integer[], integer[]) IS
            'Eight digits for each ten minutes of 56 hours; the last ones are 16 hours before the day begins in UTC';
        REVOKE ALL ON FUNCTION core.write_ten_minutes(date, integer[], integer[]) FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION core.write_ten_minutes(date, integer[], integer[]) TO tapewise_loader;

        ALTER TABLE core.day_cells ADD COLUMN ten_minute_digits NUMERIC
            GENERATED ALWAYS AS (core.write_ten_minutes(day, ten_minutes, ten_minute_counts)) STORED NOT NULL;
        """
    )


def downgrade() -> None:
    """Drop the column and its function."""
    run(
        "ALTER TABLE core.day_cells DROP COLUMN ten_minute_digits;"
        " DROP FUNCTION core.write_ten_minutes(date, integer[], integer[]);"
    )
