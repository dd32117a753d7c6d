-- Purpose: forgets what an earlier version of this program kept in a form of its own.
-- Inputs:  none.
DROP TABLE IF EXISTS state_format;
DROP TABLE IF EXISTS state_files;
DROP TABLE IF EXISTS state_sums;
DROP TABLE IF EXISTS state_notes;
DROP TABLE IF EXISTS state_surplus;
DROP TABLE IF EXISTS state_touched_days;
DROP TABLE IF EXISTS state_models;
DROP TABLE IF EXISTS state_rejects;
DROP TABLE IF EXISTS state_ties;
