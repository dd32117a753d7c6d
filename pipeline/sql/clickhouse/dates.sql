-- Purpose: which UTC days have any records, so that the others need not be asked for.
-- Grain:   one row per day with records, from {first:Date} to {last:Date}.
-- Inputs:  statement nodes; the user's view; {first:Date}, {last:Date}.
SELECT toString(part_date) AS date
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, utc_date AS part_date
  FROM {database:Identifier}.{view:Identifier}
  WHERE utc_date >= {first:Date} AND utc_date <= {last:Date}
  GROUP BY utc_date
) AS answers USING (dummy)
GROUP BY part_date
ORDER BY part_date
