-- Purpose: the number that each file of this build that is new or changed has in the state; filled by the engine.
-- Grain:   one row per file.
CREATE OR REPLACE TEMP TABLE core_file_numbers (link VARCHAR, file_id INTEGER)
