"""A recount of `filled_columns` of `ledger.loaded_rows`, apart from the code that writes them."""

from tapewise.schema.tables.facts import FACT_TABLES, event_time_columns

# One row per file, table, month and column that may be null but has a value.
_FOUND = " UNION ALL ".join(
    f"""
    SELECT DISTINCT log_file_id, source_id, '{table.name}' AS fact_table,
        date_trunc('month', {event_time_columns[table.name]} AT TIME ZONE 'UTC')::date AS month, name
    FROM core.{table.name} AS fact, LATERAL (
        SELECT key AS name FROM jsonb_each(to_jsonb(fact)) WHERE value <> 'null'
        UNION ALL SELECT 'failed' WHERE '{table.name}' = 'transfers' AND fact.is_failed
        UNION ALL SELECT 'failed ' || key FROM jsonb_each(to_jsonb(fact))
        WHERE value <> 'null' AND '{table.name}' = 'transfers' AND fact.is_failed
        UNION ALL SELECT 'kind ' || (to_jsonb(fact) ->> 'kind') WHERE '{table.name}' = 'namespace_events'
    ) AS filled
    WHERE regexp_replace(name, '^failed ', '') IN (
        {", ".join(f"'{column.name}'" for column in table.columns if column.nullable)},
        'failed', 'kind delete', 'kind rename', 'kind copy'
    )
    """
    for table in FACT_TABLES
)

# A month in which nothing was forgotten or moved may also name columns that only rows had that have gone.
MISSING_COLUMNS = f"""
    SELECT found.* FROM ({_FOUND}) AS found
    WHERE NOT EXISTS (
        SELECT FROM ledger.loaded_rows
        WHERE loaded_rows.log_file_id = found.log_file_id AND loaded_rows.fact_table = found.fact_table
            AND loaded_rows.month = found.month AND name = ANY(filled_columns)
    )
"""
SURPLUS_COLUMNS = f"""
    SELECT log_file_id, fact_table, month, name
    FROM ledger.loaded_rows, unnest(filled_columns) AS name
    WHERE row_count > 0
    EXCEPT SELECT log_file_id, fact_table, month, name FROM ({_FOUND}) AS found
"""
