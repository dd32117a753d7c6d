-- Purpose: reads one file of the archive. Tokens stand there as text, for Parquet has no integer of 128 bits.
-- Inputs:  table core_archive; $path.
INSERT INTO core_archive BY NAME
SELECT * REPLACE (tokens::HUGEINT AS tokens) FROM read_parquet($path, hive_partitioning = false)
