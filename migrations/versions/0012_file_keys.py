"""Keys of files are made with a secret of the warehouse: an unkeyed hash confirms a guessed path.

What is loaded already gets its new keys here, from the paths and capabilities beside the old ones. Numbers of
a simulated archive's files are no hashes, and stay.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0012"
down_revision = "0011"

_PATH_TABLES = (
    "transfers",
    "opens",
    "namespace_events",
    "stages",
    "transfer_starts",
    "migrations",
    "srb_sessions",
)
_CAPABILITY_TABLES = ("transfer_starts", "tape_events")
# Derived tables have no paths: they get the keys that the facts got.
_DERIVED = (("requests", "file_key"), ("requests", "capability_key"), ("tape_operations", "capability_key"))


def upgrade() -> None:
    """Make the table and the secret, and the keys of what is loaded again."""
    run("""
        CREATE TABLE ledger.secrets (
            name text NOT NULL,
            secret text NOT NULL,
            CONSTRAINT secrets_pkey PRIMARY KEY (name)
        );
        COMMENT ON TABLE ledger.secrets IS
            'One row per secret of the warehouse: with ''file keys'', paths become the keys of files';
        GRANT SELECT ON ledger.secrets TO tapewise_loader;
        -- 244 random bits, as 64 hexadecimal digits: a block of SHA-256.
        INSERT INTO ledger.secrets (name, secret)
        VALUES ('file keys', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
    """)
    pairs = [(table, "file_key", "archive_path") for table in _PATH_TABLES]
    pairs.append(("namespace_events", "new_file_key", "new_archive_path"))
    pairs += [(table, "capability_key", "capability") for table in _CAPABILITY_TABLES]
    known = " UNION ".join(
        f"SELECT {key}, {text} FROM core.{table} WHERE {key} IS NOT NULL AND {text} IS NOT NULL"  # noqa: S608  # names from above
        for table, key, text in pairs
    )
    # HMAC-SHA-256 (RFC 2104): sha256((secret xor 5c…) || sha256((secret xor 36…) || text)).
    run(f"""
        CREATE TEMPORARY TABLE new_keys ON COMMIT DROP AS
        WITH
        pads AS (
            SELECT
                decode(string_agg(lpad(to_hex(ascii(digit) # 54), 2, '0'), '' ORDER BY place), 'hex') AS inner_pad,
                decode(string_agg(lpad(to_hex(ascii(digit) # 92), 2, '0'), '' ORDER BY place), 'hex') AS outer_pad
            FROM ledger.secrets
            CROSS JOIN LATERAL string_to_table(secret, NULL) WITH ORDINALITY AS digits (digit, place)
            WHERE name = 'file keys'
        ),

        known (old_key, text) AS ({known})

        SELECT
            old_key,
            ('x' || left(encode(
                sha256(outer_pad || sha256(inner_pad || convert_to(text, 'UTF8'))), 'hex'
            ), 16))::bit(64)::bigint AS new_key
        FROM known
        CROSS JOIN pads;
        ANALYZE new_keys;
    """)  # noqa: S608  # as above
    for table, key, text in pairs:
        run(f"""
            UPDATE core.{table} SET {key} = new_key FROM new_keys
            WHERE {key} = old_key AND {text} IS NOT NULL;
        """)  # noqa: S608  # as above
    for table, key in _DERIVED:
        run(f"UPDATE core.{table} SET {key} = new_key FROM new_keys WHERE {key} = old_key;")  # noqa: S608  # as above
    run("DROP TABLE new_keys;")


def downgrade() -> None:
    """Drop the secret; the keys stay: files that are loaded later are not recognised as the same."""
    run("DROP TABLE ledger.secrets;")
