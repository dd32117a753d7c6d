-- Purpose: the columns of the user's view, as each node has it.
-- Grain:   one row per column and each type that it has on a node.
-- Inputs:  statement nodes; {database_name:String}, {view_name:String}.
SELECT part_name AS name, part_type AS type
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, name AS part_name, type AS part_type
  FROM system.columns
  WHERE database = {database_name:String} AND table = {view_name:String}
) AS answers USING (dummy)
GROUP BY part_name, part_type
ORDER BY part_name, part_type
