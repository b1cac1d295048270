"""Starts of transfers, tape events, and what is put together of them: mounts and tape operations.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0005"
down_revision = "0004"

TABLES = """
CREATE TABLE core.transfer_starts (
    id bigint NOT NULL,
    archive_id integer NOT NULL,
    source_id integer NOT NULL,
    log_file_id integer NOT NULL,
    line_number bigint NOT NULL,
    line_hash bigint NOT NULL,
    occurrence integer NOT NULL,
    began_at timestamptz NOT NULL,
    interface text NOT NULL,
    operation text NOT NULL,
    user_id integer,
    host_id integer,
    class_of_service text,
    account text,
    status_code integer,
    is_failed boolean NOT NULL,
    is_time_ambiguous boolean NOT NULL,
    direction text NOT NULL,
    is_cached boolean,
    size_bytes bigint,
    archive_path text,
    file_key bigint,
    capability text,
    capability_key bigint,
    copy_count integer,
    network text,
    CONSTRAINT transfer_starts_direction_check CHECK (direction in ('put', 'get'))
) PARTITION BY RANGE (began_at);

CREATE INDEX transfer_starts_brin ON core.transfer_starts USING brin (began_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.transfer_starts IS 'One row per transfer asked for, where a log has a line for that';

CREATE TABLE core.tape_events (
    id bigint NOT NULL,
    archive_id integer NOT NULL,
    source_id integer NOT NULL,
    log_file_id integer NOT NULL,
    line_number bigint NOT NULL,
    line_hash bigint NOT NULL,
    occurrence integer NOT NULL,
    happened_at timestamptz NOT NULL,
    interface text NOT NULL,
    operation text NOT NULL,
    user_id integer,
    host_id integer,
    class_of_service text,
    account text,
    status_code integer,
    is_failed boolean,
    is_time_ambiguous boolean NOT NULL,
    kind text NOT NULL,
    task text,
    requester text,
    capability text,
    capability_key bigint,
    location text,
    copy_number integer,
    fragment_number integer,
    vsn text,
    tape_type text,
    drive text,
    block_offset bigint,
    size_bytes bigint,
    CONSTRAINT tape_events_kind_check CHECK (kind in ('received', 'mount requested', 'positioned', 'transferred', 'dismount requested', 'dismounted')),
    CONSTRAINT tape_events_task_check CHECK (task in ('stage', 'migration')),
    CONSTRAINT tape_events_requester_check CHECK (requester in ('client', 'repacker'))
) PARTITION BY RANGE (happened_at);

CREATE INDEX tape_events_brin ON core.tape_events USING brin (happened_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.tape_events IS 'One row per event of a tape server: of a file to be read or written, or of a cartridge in a drive';

CREATE TABLE core.mounts (
    archive_id integer NOT NULL,
    first_event_at timestamptz NOT NULL,
    last_event_at timestamptz NOT NULL,
    mount_id bigint NOT NULL,
    received_at timestamptz,
    mount_requested_at timestamptz,
    positioned_at timestamptz,
    transferred_at timestamptz,
    dismount_requested_at timestamptz,
    dismounted_at timestamptz,
    transfer_count bigint NOT NULL,
    failed_count bigint NOT NULL,
    repacker_count bigint NOT NULL,
    transfer_s double precision,
    requester text,
    interface text NOT NULL,
    vsn text,
    tape_type text,
    drive text,
    location text,
    size_bytes bigint,
    is_time_ambiguous boolean NOT NULL,
    CONSTRAINT mounts_requester_check CHECK (requester in ('client', 'repacker'))
) PARTITION BY RANGE (last_event_at);

CREATE INDEX mounts_archive_id_last_event_at_idx ON core.mounts (archive_id, last_event_at);

COMMENT ON TABLE core.mounts IS 'One row per cartridge in a drive, from the request to mount it to its dismount; derived';

CREATE TABLE core.tape_operations (
    archive_id integer NOT NULL,
    first_event_at timestamptz NOT NULL,
    last_event_at timestamptz NOT NULL,
    operation_id bigint NOT NULL,
    mount_id bigint,
    task text NOT NULL,
    requester text NOT NULL,
    capability_key bigint NOT NULL,
    class_of_service text,
    copy_number integer NOT NULL,
    fragment_number integer,
    block_offset bigint,
    received_at timestamptz,
    mount_requested_at timestamptz,
    positioned_at timestamptz,
    transferred_at timestamptz,
    is_failed boolean,
    interface text NOT NULL,
    vsn text,
    tape_type text,
    drive text,
    location text,
    size_bytes bigint,
    is_time_ambiguous boolean NOT NULL,
    CONSTRAINT tape_operations_task_check CHECK (task in ('stage', 'migration')),
    CONSTRAINT tape_operations_requester_check CHECK (requester in ('client', 'repacker'))
) PARTITION BY RANGE (last_event_at);

CREATE INDEX tape_operations_archive_id_last_event_at_idx ON core.tape_operations (archive_id, last_event_at);

COMMENT ON TABLE core.tape_operations IS 'One row per file read from a cartridge or written to one, or asked to be; derived';
"""

REQUESTS = """
ALTER TABLE core.requests
    ADD COLUMN start_id bigint, ADD COLUMN is_cached boolean, ADD COLUMN capability_key bigint;
ALTER TABLE core.requests DROP CONSTRAINT requests_subject_check;
ALTER TABLE core.requests ADD CONSTRAINT requests_subject_check
    CHECK (num_nonnulls(transfer_id, open_id, job_id, start_id) >= 1);
"""

REQUESTS_BEFORE = """
DELETE FROM core.requests WHERE num_nonnulls(transfer_id, open_id, job_id) = 0;
ALTER TABLE core.requests DROP CONSTRAINT requests_subject_check;
ALTER TABLE core.requests DROP COLUMN start_id, DROP COLUMN is_cached, DROP COLUMN capability_key;
ALTER TABLE core.requests ADD CONSTRAINT requests_subject_check
    CHECK (num_nonnulls(transfer_id, open_id, job_id) >= 1);
"""

FUNCTION = """
CREATE OR REPLACE FUNCTION core.make_partitions(fact_table text, months date[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    since date;
    partition text;
    made integer := 0;
BEGIN
    IF fact_table NOT IN (
        'transfers', 'opens', 'namespace_events', 'unitree_jobs', 'stages', 'requests',
        'transfer_starts', 'tape_events', 'mounts', 'tape_operations'
    ) THEN
        RAISE EXCEPTION 'core.% is not cut into months', fact_table;
    END IF;
    -- One at a time, by a lock that minds neither those who read nor those who load, and that a reader cannot
    -- take: an advisory lock anybody may take who may connect.
    EXECUTE format('LOCK TABLE ONLY core.%I IN SHARE UPDATE EXCLUSIVE MODE', fact_table);
    FOR since IN SELECT DISTINCT date_trunc('month', month)::date FROM unnest(months) AS month ORDER BY 1 LOOP
        partition := format('%s_%s', fact_table, to_char(since, 'YYYY_MM'));
        CONTINUE WHEN to_regclass(format('core.%I', partition)) IS NOT NULL;
        EXECUTE format(
            'CREATE TABLE core.%I (LIKE core.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
            partition,
            fact_table
        );
        EXECUTE format(
            'ALTER TABLE core.%I ATTACH PARTITION core.%I FOR VALUES FROM (%L) TO (%L)',
            fact_table,
            partition,
            format('%s 00:00:00+00', since),
            format('%s 00:00:00+00', (since + interval '1 month')::date)
        );
        made := made + 1;
    END LOOP;
    RETURN made;
END
$function$;
"""

FUNCTION_BEFORE = """
CREATE OR REPLACE FUNCTION core.make_partitions(fact_table text, months date[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    since date;
    partition text;
    made integer := 0;
BEGIN
    IF fact_table NOT IN (
        'transfers', 'opens', 'namespace_events', 'unitree_jobs', 'stages', 'requests'
    ) THEN
        RAISE EXCEPTION 'core.% is not cut into months', fact_table;
    END IF;
    -- One at a time, by a lock that minds neither those who read nor those who load, and that a reader cannot
    -- take: an advisory lock anybody may take who may connect.
    EXECUTE format('LOCK TABLE ONLY core.%I IN SHARE UPDATE EXCLUSIVE MODE', fact_table);
    FOR since IN SELECT DISTINCT date_trunc('month', month)::date FROM unnest(months) AS month ORDER BY 1 LOOP
        partition := format('%s_%s', fact_table, to_char(since, 'YYYY_MM'));
        CONTINUE WHEN to_regclass(format('core.%I', partition)) IS NOT NULL;
        EXECUTE format(
            'CREATE TABLE core.%I (LIKE core.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
            partition,
            fact_table
        );
        EXECUTE format(
            'ALTER TABLE core.%I ATTACH PARTITION core.%I FOR VALUES FROM (%L) TO (%L)',
            fact_table,
            partition,
            format('%s 00:00:00+00', since),
            format('%s 00:00:00+00', (since + interval '1 month')::date)
        );
        made := made + 1;
    END LOOP;
    RETURN made;
END
$function$;
"""

GRANTS = """
GRANT SELECT ON core.transfer_starts, core.tape_events, core.mounts, core.tape_operations TO tapewise_loader;
GRANT INSERT ON core.transfer_starts, core.tape_events TO tapewise_loader;
GRANT INSERT, DELETE ON core.mounts, core.tape_operations TO tapewise_loader;
GRANT UPDATE (began_at) ON core.transfer_starts TO tapewise_loader;
GRANT UPDATE (happened_at) ON core.tape_events TO tapewise_loader;
"""


def upgrade() -> None:
    """Add tables, and columns of requests; no line that was read before tells of them."""
    run(TABLES)
    run(REQUESTS)
    run(FUNCTION)
    run(GRANTS)


def downgrade() -> None:
    """Drop them again, with what they hold."""
    run(FUNCTION_BEFORE)
    run(REQUESTS_BEFORE)
    run("DROP TABLE core.tape_operations, core.mounts, core.tape_events, core.transfer_starts;")
