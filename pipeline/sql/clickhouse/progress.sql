-- Purpose: how far a running query is, on all nodes together.
-- Grain:   one row, or none when it is over.
-- Inputs:  {query_id:String}.
SELECT toString(read_rows) AS read_rows, toString(total_rows_approx) AS total_rows
FROM system.processes
WHERE query_id = {query_id:String}
