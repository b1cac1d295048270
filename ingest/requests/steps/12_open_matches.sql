-- A file is opened, or its transfer is started, and then moved: `pairs.py` decides which lines belong
-- together. (Rows of different tables never have the same id, so an `open_id` is either an open's or a
-- start's.)
SELECT
    pairs.transfer_id,
    pairs.open_id
FROM unnest(%(transfer_ids)s::bigint[], %(open_ids)s::bigint[]) AS pairs (transfer_id, open_id)
