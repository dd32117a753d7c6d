-- Purpose: gives files that an earlier version read, as this one does, the name that this one has for that reading.
-- Inputs:  table state_files; variable source; $former, $reading.
UPDATE state_files SET reading = $reading WHERE source = getvariable('source') AND reading = $former
