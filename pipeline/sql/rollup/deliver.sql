-- Purpose: enters what counts into the rollup.
-- Grain:   as core_rollup.
-- Inputs:  tables core_result, core_rollup; variable source.
INSERT INTO core_rollup
SELECT getvariable('source'), date, model_permaslug, tokens, records FROM core_result WHERE outcome = 'public'
