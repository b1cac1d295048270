"""How concentrated requests are on a few users."""

from tapewise.report.section import Section

SECTION = Section(
    name="users",
    question="How are requests spread over users?",
    heading="How requests are distributed over users",
    heads=(
        "interface",
        "direction",
        "users",
        "busiest user",
        "busiest ten",
        "users with half",
        "largest share of bytes",
    ),
    query="""
    SELECT interface, direction, count(*) AS user_count,
        max(request_ratio) AS busiest_ratio,
        max(running_ratio) FILTER (WHERE user_rank <= 10) AS busiest_ten_ratio,
        min(user_rank) FILTER (WHERE running_ratio >= 0.5) AS users_with_half_count,
        max(size_ratio) AS most_of_bytes_ratio
    FROM mart.user_shares(archive => %(archive)s, since => %(since)s, until => %(until)s)
    GROUP BY interface, direction
    ORDER BY interface, direction DESC
    """,
    note="Users are as each log names them. One whom two logs name differently counts as two.",
    needs=("transfers", "users"),
    silence="No request of a known user succeeded.",
)
