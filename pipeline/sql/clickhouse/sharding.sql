-- Purpose: how many ids of one UTC day each shard has, added up, and how many there are in all: where the one is more, ids
--          lie on several shards, and their copies would count several times. Of a day with very many ids it looks at
--          those alone whose other hash is a multiple of {one_of:UInt64}: by the first one the table may be sharded,
--          and then a part of its values would say nothing about the others.
-- Grain:   one row.
-- Inputs:  statement nodes; the user's view; {date:Date}, {one_of:UInt64}.
SELECT
  toString(sum(part_ids)) AS ids_of_shards,
  toString(uniqExactMerge(part_state)) AS ids
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, uniqExact(sipHash64(id)) AS part_ids, uniqExactState(sipHash64(id)) AS part_state
  FROM (
    SELECT ifNull(toString(request_id), '') AS id
    FROM {database:Identifier}.{view:Identifier}
    WHERE utc_date = {date:Date} AND ifNull(toString(request_id), '') != ''
  )
  WHERE sipHash64(concat('one of ', id)) % {one_of:UInt64} = 0
) AS answers USING (dummy)
