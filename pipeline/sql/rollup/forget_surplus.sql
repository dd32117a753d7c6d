-- Purpose: forgets the repeated records of the days that are looked at again.
-- Inputs:  table state_surplus; view core_touched_days; variable source.
DELETE FROM state_surplus
WHERE source = getvariable('source') AND day_number IN (SELECT day_number FROM core_touched_days)
