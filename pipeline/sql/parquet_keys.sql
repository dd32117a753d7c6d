-- Purpose: what a Parquet file says of itself in its footer.
-- Grain:   one row per key.
-- Inputs:  $path.
SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata($path) ORDER BY key
