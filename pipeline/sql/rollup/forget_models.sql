-- Purpose: forgets what the registry said of the models of a source before.
-- Inputs:  table state_models; variable source.
DELETE FROM state_models WHERE source = getvariable('source')
