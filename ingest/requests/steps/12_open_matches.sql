-- Which open, or start of a transfer, belongs to which transfer, as decided by `pairs.py`. (Rows of different
-- tables never have the same id, so an `open_id` belongs either to an open or to a start.)
SELECT
    pairs.transfer_id,
    pairs.open_id
FROM unnest(%(transfer_ids)s::bigint[], %(open_ids)s::bigint[]) AS pairs (transfer_id, open_id)
