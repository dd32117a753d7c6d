-- Purpose: reads which files one part of the archive came from, and how they were read. Version 0.1.0 wrote no readings.
-- Inputs:  table core_archived_inputs; $path.
INSERT INTO core_archived_inputs BY NAME
SELECT * REPLACE (tokens::HUGEINT AS tokens) FROM read_parquet($path, hive_partitioning = false)
