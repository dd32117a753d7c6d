-- Purpose: enters what a kept file contributed into a state that does not know it.
-- Inputs:  table state_sums; $file_id, $path.
INSERT INTO state_sums BY NAME
SELECT $file_id AS file_id, * REPLACE (tokens::HUGEINT AS tokens) FROM read_parquet($path, hive_partitioning = false)
