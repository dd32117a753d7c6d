-- Purpose: what a source contributes, with the records of misdated days rejected, copies of them too. Neither the state nor
--          the archive holds this: a day that is misdated today may be a date like any other tomorrow.
-- Grain:   as core_net_usage.
-- Inputs:  view core_net_usage.
CREATE OR REPLACE TEMP VIEW core_dated_usage AS
SELECT * FROM core_net_usage WHERE NOT is_misdated(day_number)
UNION ALL BY NAME
SELECT 'invalid_timestamp' AS outcome, records, 0 AS tokens, 0 AS cost_usd, 0 AS misread_charges
FROM core_net_usage
WHERE is_misdated(day_number)
