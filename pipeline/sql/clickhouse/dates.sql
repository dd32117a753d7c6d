-- Purpose: how many records the UTC days have: those with none need not be asked for, and a day whose number is the same
--          before and after it was summed did not change meanwhile.
-- Grain:   one row per day with records, from {first:Date} to {last:Date}.
-- Inputs:  statement nodes; the user's view; {first:Date}, {last:Date}.
SELECT toString(part_date) AS date, toString(sum(part_records)) AS records
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, utc_date AS part_date, count() AS part_records
  FROM {database:Identifier}.{view:Identifier}
  WHERE utc_date >= {first:Date} AND utc_date <= {last:Date}
  GROUP BY utc_date
) AS answers USING (dummy)
GROUP BY part_date
ORDER BY part_date
