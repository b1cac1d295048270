SELECT
    last_transfer_id,
    last_interface,
    last_direction,
    last_client,
    next_transfer_id,
    next_interface,
    next_direction,
    next_client,
    idle_s,
    is_edge,
    started_at,
    ended_at
FROM mart.idle_intervals()
ORDER BY started_at
