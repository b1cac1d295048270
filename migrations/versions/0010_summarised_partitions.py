"""Loads summarise in the BRIN indexes what they write: who compares with it next need not read whole months.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the function."""
    run("""
        CREATE FUNCTION core.summarize_partitions(fact_table text, months date[]) RETURNS integer
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    index regclass;
    partition regclass;
    made integer := 0;
BEGIN
    FOR index, partition IN
        SELECT pg_index.indexrelid, pg_index.indrelid
        FROM (SELECT DISTINCT date_trunc('month', month) AS since FROM unnest(months) AS month) AS given
        JOIN pg_index
            ON pg_index.indrelid = to_regclass(format('core.%I', fact_table || to_char(since, '_YYYY_MM')))
        JOIN pg_inherits ON pg_inherits.inhrelid = pg_index.indrelid
        JOIN pg_class ON pg_class.oid = pg_index.indexrelid
        JOIN pg_am ON pg_am.oid = pg_class.relam
        WHERE pg_am.amname = 'brin' AND pg_inherits.inhparent = to_regclass(format('core.%I', fact_table))
    LOOP
        BEGIN
            EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE NOWAIT', partition);
            made := made + brin_summarize_new_values(index);
        EXCEPTION WHEN lock_not_available THEN
            NULL;  -- nobody waits: what is left out is put in by the next load of the month, or by vacuum
        END;
    END LOOP;
    RETURN made;
END
$function$;
        COMMENT ON FUNCTION core.summarize_partitions(text, date[]) IS
            'Adds what was written last to the BRIN indexes of month partitions; gives how many ranges';
        REVOKE ALL ON FUNCTION core.summarize_partitions(text, date[]) FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION core.summarize_partitions(text, date[]) TO tapewise_loader;
    """)


def downgrade() -> None:
    """Drop it again."""
    run("DROP FUNCTION core.summarize_partitions(text, date[]);")
