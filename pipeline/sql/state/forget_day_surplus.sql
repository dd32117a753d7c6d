-- Purpose: forgets the repeated records of a day, before what it holds is entered anew.
-- Inputs:  table state_surplus; variable source; $day_number.
DELETE FROM state_surplus WHERE source = getvariable('source') AND day_number = $day_number::INTEGER
