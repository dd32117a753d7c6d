-- Purpose: where that extension lies.
-- Grain:   one row.
SELECT install_path
FROM duckdb_extensions()
WHERE extension_name = 'httpfs'
