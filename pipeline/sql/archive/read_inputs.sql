-- Purpose: reads which files one part of the archive came from.
-- Inputs:  table core_archived_inputs; $path.
INSERT INTO core_archived_inputs BY NAME
SELECT * REPLACE (tokens::HUGEINT AS tokens) FROM read_parquet($path, hive_partitioning = false)
