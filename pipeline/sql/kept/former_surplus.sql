-- Purpose: the repeated records as they stood while the files that are now kept without their records could be read.
-- Grain:   as state_surplus.
-- Inputs:  table state_surplus; view core_touched_days; variable source.
CREATE OR REPLACE TEMP TABLE core_former_surplus AS
SELECT * FROM state_surplus
WHERE source = getvariable('source') AND day_number IN (SELECT day_number FROM core_touched_days)
