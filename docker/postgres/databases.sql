-- The image's entrypoint runs this once, on an empty volume, as the superuser. It creates two databases, each with an
-- owner that is not a superuser and cannot connect to the other one. `migrate` creates the other roles and sets their
-- passwords.
\set owner_url `cat "$OWNER_URL_FILE"`
SELECT substring(:'owner_url' FROM '^postgresql://tapewise:([A-Za-z0-9._~-]{16,})@') AS password \gset
\if :{?password}
\else
    DO $$ BEGIN
        RAISE EXCEPTION 'the secret owner_url must be postgresql://tapewise:PASSWORD@postgres/tapewise'
        USING HINT = 'Its password: 16 or more letters, digits, dots, tildes, - or _. Run docker/make-secrets, '
            'then `docker compose down --volumes`, and start again.';
    END $$;
\endif
CREATE ROLE tapewise LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE tapewise OWNER tapewise ENCODING 'UTF8' TEMPLATE template0;

-- The owner creates this role and can therefore change its password, as `migrate` does.
SET ROLE tapewise;
CREATE ROLE superset LOGIN;
RESET ROLE;
CREATE DATABASE superset OWNER superset ENCODING 'UTF8' TEMPLATE template0;

REVOKE ALL ON DATABASE tapewise, superset, postgres, template1 FROM PUBLIC;

-- A query ends when its client is gone.
ALTER DATABASE tapewise SET client_connection_check_interval = '2s';

-- Only a superuser can make the changes below, and `tapewise doctor` would otherwise ask for them
-- (schema/access/roles.py).
GRANT SET ON PARAMETER temp_file_limit TO tapewise;
\connect tapewise
SELECT 'REVOKE EXECUTE ON FUNCTION ' || string_agg(oid::regprocedure::text, ', ') || ' FROM PUBLIC'
FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace AND (
    proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_put', 'lowrite', 'pg_logical_emit_message')
    OR proname ~ '^pg_(try_)?advisory_(xact_)?lock'
) \gexec
