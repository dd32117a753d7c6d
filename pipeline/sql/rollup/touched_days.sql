-- Purpose: the days of one source whose repeated records have to be looked for again.
-- Grain:   UTC day.
-- Inputs:  table state_touched_days; variables source, open_day.
CREATE OR REPLACE TEMP VIEW core_touched_days AS
SELECT day_number
FROM state_touched_days
WHERE source = getvariable('source') AND day_number >= getvariable('open_day')
