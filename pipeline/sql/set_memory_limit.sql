-- Purpose: how much memory DuckDB may take before it writes intermediate results to disk.
-- Inputs:  $memory_limit, such as 512MiB or 4GB.
SET memory_limit = $memory_limit
