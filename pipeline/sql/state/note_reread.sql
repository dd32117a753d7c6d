-- Purpose: notes that the selected source was read again because this version reads it differently.
-- Inputs:  table state_rereads; variable source.
INSERT INTO state_rereads VALUES (getvariable('source'))
