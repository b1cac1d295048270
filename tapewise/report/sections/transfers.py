"""Transfers, failures and bytes by interface and direction."""

from tapewise.report.section import Section

SECTION = Section(
    name="transfers",
    question="How much was moved, and how often did it fail?",
    heading="Transfers by interface and direction",
    heads=("interface", "direction", "transfers", "failed", "failures unknown", "bytes", "users"),
    query="""
    SELECT interface, direction, transfer_count, failed_count, failures_unknown_count, size_bytes,
        coalesce(user_count, CASE WHEN failed_count = transfer_count THEN 0 END) AS user_count
    FROM (
        SELECT interface, direction, sum(transfer_count)::bigint AS transfer_count,
            CASE WHEN bool_or(failed_count > 0 OR is_failure_logged) THEN sum(failed_count)::bigint END
                AS failed_count,
            coalesce(sum(transfer_count) FILTER (WHERE NOT is_failure_logged), 0)::bigint
                AS failures_unknown_count,
            CASE
                WHEN sum(unknown_size_count) = 0
                    OR sum(unknown_size_count) < sum(transfer_count - failed_count)
                    THEN sum(size_bytes)
            END AS size_bytes
        FROM mart.selected_days(archive => %(archive)s, since => %(since)s, until => %(until)s)
        GROUP BY interface, direction
    ) AS counts
    LEFT JOIN (
        SELECT interface, direction, count(*) AS user_count
        FROM mart.user_shares(archive => %(archive)s, since => %(since)s, until => %(until)s)
        GROUP BY interface, direction
    ) AS users USING (interface, direction)
    ORDER BY interface, direction DESC
    """,
    note=(
        "Bytes and users exclude failed transfers. Failures are unknown for transfers in logs that do not"
        " report failures."
    ),
    needs=("activity",),
    silence="No transfer ended.",
)
