-- Purpose: notes what the registry says of the models of a source.
-- Inputs:  tables core_models, state_models; variable source.
INSERT INTO state_models
SELECT getvariable('source'), model, model_permaslug, visibility, is_valid FROM core_models
