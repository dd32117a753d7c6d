-- Purpose: whether the nodes have different records without ids of one UTC day: where all have the same, their view most
--          likely reads the table of all nodes, and each record would count as often as there are nodes.
-- Grain:   one row. `different` is how many different sets of records the nodes have, `records` how many are in the largest.
-- Inputs:  statements records, nodes; as these.
SELECT
  toString(count()) AS nodes,
  toString(uniqExact(part_records, part_fingerprint)) AS different,
  toString(max(part_records)) AS records
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT
    toUInt8(0) AS dummy,
    count() AS part_records,
    sum(sipHash64(name, toInt64(prompt), toInt64(completion))) AS part_fingerprint
  FROM ({records:Statement})
  WHERE id = '' AND reject = ''
) AS answers USING (dummy)
