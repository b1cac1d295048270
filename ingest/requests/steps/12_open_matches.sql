-- A file is opened, or its transfer begun, then moved: `pairs.py` says which of them belong together.
-- (No row of one table has the number of another's: what is opened is an open or a start.)
SELECT
    pairs.transfer_id,
    pairs.open_id
FROM unnest(%(transfer_ids)s::bigint[], %(open_ids)s::bigint[]) AS pairs (transfer_id, open_id)
