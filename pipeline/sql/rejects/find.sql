-- Purpose: the rejected records of one file, but for those that DuckDB itself took for malformed CSV.
-- Grain:   record. `record_number` is 1 for the first record that DuckDB gives; `content` is a struct, for Parquet alone.
--          All columns are taken, so that they are all read: which bytes DuckDB looks at decides what is malformed.
-- Inputs:  view core_usage over the file with record numbers; table core_models.
CREATE OR REPLACE TEMP TABLE core_rejects AS
SELECT *
FROM core_usage
WHERE is_misdated(day_number)
  OR reject_reason <> 'left_out'
  OR coalesce(model, '') IN (SELECT model FROM core_models WHERE NOT is_valid)
