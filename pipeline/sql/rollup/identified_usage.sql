-- Purpose: the records with a request_id that are in force: those of the files at hand, and those kept of files that are gone.
--          `core_ids` has no more of them than tells whether an id is repeated, and rejected ones too: to know them would
--          take as long as the rest, and they only add candidates.
-- Grain:   one row per record.
-- Inputs:  view core_usage; table core_kept_usage.
CREATE OR REPLACE TEMP VIEW core_ids AS
SELECT day_number, request_id FROM core_usage
UNION ALL
SELECT day_number, request_id FROM core_kept_usage;

CREATE OR REPLACE TEMP VIEW core_identified_usage AS
SELECT
  updated_us, instant_us, day_number, model, prompt_tokens, completion_tokens, request_id, visibility, api_key_hash,
  cost_usd, is_byok, is_charge_misread
FROM core_usage
WHERE reject_reason IS NULL AND request_id IS NOT NULL
UNION ALL
FROM core_kept_usage
