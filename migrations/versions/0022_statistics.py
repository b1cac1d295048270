"""Statistics of the partitioned tables and of the sources; its SQL is in the file of the same name."""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Add the functions; the program calls them after an upgrade and after each load."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the functions; the statistics stay, which does no harm."""
    run("""
        DROP FUNCTION core.analyze_partitions(), core.find_stale_statistics();
        CREATE OR REPLACE FUNCTION core.analyze_archives() RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
        BEGIN
            ANALYZE core.archives;
        END
        $function$;
        COMMENT ON FUNCTION core.analyze_archives() IS
            'Counts the archives for the planner; for whoever has made one';
    """)
