-- Purpose: how many ids of one UTC day each shard has, added up, and how many there are in all: where the one is more, ids
--          lie on several shards, and their copies would count several times. Of a day with very many ids it looks at
--          those alone whose hash is a multiple of {one_of:UInt64}.
-- Grain:   one row.
-- Inputs:  statement nodes; the user's view; {date:Date}, {one_of:UInt64}.
SELECT
  toString(sum(part_ids)) AS ids_of_shards,
  toString(uniqExactMerge(part_state)) AS ids
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, uniqExact(id_hash) AS part_ids, uniqExactState(id_hash) AS part_state
  FROM (
    SELECT sipHash64(ifNull(toString(request_id), '')) AS id_hash
    FROM {database:Identifier}.{view:Identifier}
    WHERE utc_date = {date:Date} AND ifNull(toString(request_id), '') != ''
  )
  WHERE id_hash % {one_of:UInt64} = 0
) AS answers USING (dummy)
