-- Purpose: the rejected records of one file, those aside that DuckDB itself took for malformed CSV.
-- Grain:   record. `record_number` is 1 for the first record that DuckDB gives, `content` a JSON object, NULL for NDJSON.
-- Inputs:  view core_usage over the file with record numbers; table core_models.
CREATE OR REPLACE TEMP TABLE core_rejects AS
SELECT record_number, coalesce(reject_reason, 'invalid_model') AS reason, to_json(record_values)::VARCHAR AS content
FROM core_usage
WHERE reject_reason IS NOT NULL
  OR coalesce(model, '') IN (SELECT model FROM core_models WHERE NOT is_valid)
