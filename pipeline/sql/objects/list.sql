-- Purpose: the objects that patterns of DuckDB find; their content is not read.
-- Grain:   one row for each object.
-- Inputs:  $patterns, a list of URLs.
SELECT filename AS url, size AS bytes, epoch_ms(last_modified) AS modified_ms
FROM read_blob($patterns)
