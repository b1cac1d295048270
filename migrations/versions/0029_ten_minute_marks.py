"""The ten minutes of a day cell as bits, so that those of many cells can be counted together at once."""

from tapewise.migrations.statements import run

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    """Add the column, which the database computes from the ten minutes that are there."""
    run(
        """
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

        ALTER TABLE core.day_cells ADD COLUMN ten_minute_marks BIT(336)
            GENERATED ALWAYS AS (core.mark_ten_minutes(day, ten_minutes)) STORED NOT NULL;
        """
    )


def downgrade() -> None:
    """Drop the column and its function."""
    run(
        "ALTER TABLE core.day_cells DROP COLUMN ten_minute_marks;"
        " DROP FUNCTION core.mark_ten_minutes(date, integer[]);"
    )
