-- Purpose: forgets the ties of a day, before what it holds is entered anew.
-- Inputs:  table state_ties; variable source; $day_number.
DELETE FROM state_ties WHERE source = getvariable('source') AND day_number = $day_number::INTEGER
