-- Purpose: DuckDB's extension for buckets, from the folder where it was installed; nothing is downloaded. It reads the
--          credentials, the region and the endpoint from the environment itself.
LOAD httpfs
