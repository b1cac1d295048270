SELECT
    waited_s,
    clock_step_s,
    is_wait_below_clock,
    is_wait_negative
FROM mart.requests
ORDER BY ended_at
