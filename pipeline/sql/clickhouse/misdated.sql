-- Purpose: the records whose day cannot be right (DESIGN.md §6.10), which belong to no day that is asked for.
--          18.16 writes 1970-01-01 as 0000-00-00.
-- Grain:   one row; the dates say nothing where there are no such records.
-- Inputs:  statement nodes; the user's view; {first:Date} and {last:Date}, the first and the last day that can be right.
SELECT
  toString(sum(part_records)) AS records,
  replaceOne(toString(min(part_first)), '0000-00-00', '1970-01-01') AS first_date,
  replaceOne(toString(max(part_last)), '0000-00-00', '1970-01-01') AS last_date
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, count() AS part_records, min(utc_date) AS part_first, max(utc_date) AS part_last
  FROM {database:Identifier}.{view:Identifier}
  WHERE utc_date < {first:Date} OR utc_date > {last:Date}
  HAVING count() > 0
) AS answers USING (dummy)
