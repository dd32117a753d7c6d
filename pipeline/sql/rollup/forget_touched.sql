-- Purpose: nothing is left to be looked for.
-- Inputs:  table state_touched_days; variable source.
DELETE FROM state_touched_days WHERE source = getvariable('source')
