-- Purpose: nothing is left to be looked for, but on days that are archived.
-- Inputs:  table state_touched_days; variables source, open_day.
DELETE FROM state_touched_days WHERE source = getvariable('source') AND day_number >= getvariable('open_day')
