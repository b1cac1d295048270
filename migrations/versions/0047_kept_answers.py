"""Answers of functions of `mart` that take long are kept."""

from tapewise.migrations.statements import run

revision = "0047"
down_revision = "0046"


def upgrade() -> None:
    """Add the table, which `tapewise refresh` fills."""
    run(
        """
        CREATE TABLE studies.kept_answers (
            id INTEGER GENERATED ALWAYS AS IDENTITY,
            archive_id INTEGER NOT NULL,
            function_name TEXT NOT NULL,
            arguments JSONB NOT NULL,
            state TEXT NOT NULL,
            answer JSONB NOT NULL,
            took_s DOUBLE PRECISION NOT NULL,
            computed_at TIMESTAMP WITH TIME ZONE NOT NULL,
            CONSTRAINT kept_answers_pkey PRIMARY KEY (id),
            CONSTRAINT kept_answers_archive_id_key UNIQUE (archive_id, function_name, arguments),
            CONSTRAINT kept_answers_archive_id_fkey FOREIGN KEY(archive_id)
                REFERENCES core.archives (id) ON DELETE CASCADE
        );
        COMMENT ON TABLE studies.kept_answers IS
            'One row per archive, function of mart and arguments whose answer is kept';

        GRANT SELECT, INSERT, DELETE ON studies.kept_answers TO tapewise_loader;
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA studies TO tapewise_loader;
        """
    )


def downgrade() -> None:
    """Drop the table, which the facts can fill again."""
    run("DROP TABLE studies.kept_answers;")
