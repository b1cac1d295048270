"""A fresh archive is counted at once: the planner has statistics of `core.archives` before autovacuum comes.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the function, and count the archives that are there."""
    run("""
        CREATE FUNCTION core.analyze_archives() RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
BEGIN
    ANALYZE core.archives;
END
$function$;
        COMMENT ON FUNCTION core.analyze_archives() IS
            'Counts the archives for the planner; for whoever has made one';
        REVOKE ALL ON FUNCTION core.analyze_archives() FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION core.analyze_archives() TO tapewise_loader;
        ANALYZE core.archives;
    """)


def downgrade() -> None:
    """Drop it again."""
    run("DROP FUNCTION core.analyze_archives();")
