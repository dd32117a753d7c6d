-- Purpose: the number that each file of this pass has in the state; filled by the engine.
-- Grain:   one row per file.
CREATE OR REPLACE TEMP TABLE core_read_files (input_group INTEGER, file_index INTEGER, link VARCHAR, file_id INTEGER)
