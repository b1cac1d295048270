"""Routes of single clients, which the rollups by local day count if an archive asks for it.

No archive does at first, so nothing is counted.
"""

from tapewise.migrations.statements import run

revision = "0036"
down_revision = "0035"

_TABLES = ("day_cells", "size_cells", "request_cells", "hit_cells", "user_cells", "open_cells")


def upgrade() -> None:
    """Add the setting and the clients of routes."""
    run(
        """
        ALTER TABLE core.archives ADD COLUMN has_client_cells BOOLEAN DEFAULT false NOT NULL;
        ALTER TABLE core.archives ADD COLUMN client_cells_since DATE;

        ALTER TABLE core.routes ADD COLUMN client_id INTEGER;
        ALTER TABLE core.routes ADD CONSTRAINT routes_client_id_fkey
            FOREIGN KEY (client_id) REFERENCES core.hosts (id);
        CREATE INDEX routes_client_id_idx ON core.routes (client_id);
        ALTER TABLE core.routes DROP CONSTRAINT routes_source_id_key;
        ALTER TABLE core.routes ADD CONSTRAINT routes_source_id_key
            UNIQUE NULLS NOT DISTINCT (source_id, interface, direction, class_of_service, client_id);
        COMMENT ON TABLE core.routes IS
            'One row per source, interface, direction, class of service and client that a cell counts';
        """
    )


def downgrade() -> None:
    """Drop the cells of single clients: without their routes' clients, they would count everything twice."""
    for table in _TABLES:
        run(
            f"DELETE FROM core.{table} USING core.routes"  # noqa: S608 - the names above
            " WHERE route_id = routes.id AND client_id IS NOT NULL;"
        )
    run(
        """
        DELETE FROM core.routes WHERE client_id IS NOT NULL;
        ALTER TABLE core.routes DROP CONSTRAINT routes_source_id_key;
        ALTER TABLE core.routes DROP COLUMN client_id;
        ALTER TABLE core.routes ADD CONSTRAINT routes_source_id_key
            UNIQUE NULLS NOT DISTINCT (source_id, interface, direction, class_of_service);
        COMMENT ON TABLE core.routes IS
            'One row per source, interface, direction and class of service that a cell counts';
        ALTER TABLE core.archives DROP COLUMN has_client_cells, DROP COLUMN client_cells_since;
        """
    )
