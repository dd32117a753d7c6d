-- Purpose: what the pass over the files counted of each file.
-- Grain:   file x UTC day x model name as written x own visibility x reason to reject. Rejected records have no model.
-- Inputs:  table core_usage_sums.
CREATE OR REPLACE TEMP VIEW core_usage_groups AS
SELECT * EXCLUDE (is_by_key, api_key_hash, is_byok, cost_usd, misread_charges) FROM core_usage_sums WHERE NOT is_by_key
