"""How many users make half of the requests, and half of the bytes."""

from typing import TYPE_CHECKING

from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

# Use is concentrated if this share of the users, or less, has half of the bytes or requests.
CONCENTRATED = 0.1
FEWEST_USERS = 10


def find(facts: Facts) -> Finding | None:
    """Say how few users have half of the bytes or, if sizes are unknown, of the requests."""
    rows = {row["quantity"]: row for row in facts["user_curve"]}
    row = rows.get("bytes") or rows["requests"]
    user_count, half_count = row["user_count"], row["half_count"]
    if user_count < FEWEST_USERS:
        return Finding(f"Too few users ({user_count}, not {FEWEST_USERS}) to compare them", False)
    few = "one" if half_count == 1 else f"{half_count:,}"
    sentence = f"Half of the {row['quantity']} came from {few} of {user_count:,} users"
    return Finding(sentence, half_count / user_count <= CONCENTRATED)


def draw(_: Facts) -> "list[altair.TopLevelMixin]":
    """The running share of the users, from the most active on: a line for requests and one for bytes."""
    import altair as alt

    from tapewise.report import charts

    return [
        charts.plot("user_curve", height=180)
        .mark_line()
        .encode(
            x=alt.X(
                "user_ratio:Q",
                title="share of the users, most active first",
                axis=charts.share_axis(5),
            ),
            y=alt.Y("running_ratio:Q", title=None, axis=charts.share_axis(5)),
            color=alt.Color(
                "quantity:N",
                title=None,
                scale=alt.Scale(domain=["requests", "bytes"], range=[charts.BLUE, charts.VERMILLION]),
            ),
            strokeDash=alt.StrokeDash(
                "quantity:N", scale=alt.Scale(domain=["requests", "bytes"], range=[[1, 0], [6, 3]])
            ),
        )
    ]


SECTION = Section(
    name="user_curve",
    question="Do a few users do most of the work?",
    heading="Shares of requests and bytes by users",
    query="""
    WITH users AS (
        SELECT user_id, sum(request_count) AS request_count, sum(size_bytes) AS size_bytes
        FROM mart.user_shares(archive => %(archive)s, since => %(since)s, until => %(until)s)
        GROUP BY user_id
    ),
    amounts AS (
        SELECT 'requests' AS quantity, user_id, request_count AS amount FROM users
        UNION ALL
        SELECT 'bytes', user_id, coalesce(size_bytes, 0) FROM users
    ),
    -- Each quantity has its own order of users.
    ranked AS (
        SELECT quantity, row_number() OVER upto AS user_rank, count(*) OVER whole AS user_count,
            sum(amount) OVER upto / nullif(sum(amount) OVER whole, 0) AS running_ratio
        FROM amounts
        WINDOW whole AS (PARTITION BY quantity),
            upto AS (PARTITION BY quantity ORDER BY amount DESC, user_id ROWS UNBOUNDED PRECEDING)
    ),
    halves AS (
        SELECT *,
            min(user_rank) FILTER (WHERE running_ratio >= 0.5) OVER (PARTITION BY quantity) AS half_count
        FROM ranked
        WHERE running_ratio IS NOT NULL
    ),
    points AS (
        SELECT * FROM halves
        UNION ALL
        SELECT DISTINCT quantity, 0, user_count, 0, half_count FROM halves
    )
    -- A curve needs no more than the first users and one in a hundred of the others.
    SELECT quantity, user_rank, user_rank::double precision / user_count AS user_ratio, user_count,
        running_ratio, half_count
    FROM points
    WHERE user_rank <= 20 OR user_rank = user_count OR user_rank %% (1 + user_count / 100) = 0
    ORDER BY quantity, user_rank
    """,
    needs=("transfers", "users"),
    silence="No request of a known user succeeded.",
    find=find,
    draw=draw,
    caption=(
        "The running share of all requests, and of all bytes of known size, by known users of all"
        " interfaces. The most active come first, separately for each line; if all were alike, the line"
        " would be straight. Users are as each log names them; one whom two logs name differently counts as"
        " two."
    ),
)
