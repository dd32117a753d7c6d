-- Purpose: what the registry said of the models of a source when its repeated records were looked for last.
-- Grain:   as core_models.
-- Inputs:  table state_models; variable source.
CREATE OR REPLACE TEMP TABLE core_models AS
SELECT model, model_permaslug, visibility, is_valid FROM state_models WHERE source = getvariable('source')
