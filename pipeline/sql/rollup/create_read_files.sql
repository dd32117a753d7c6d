-- Purpose: the files of a batch, as the view core_usage counts them; filled by the engine.
-- Grain:   one row per file.
CREATE OR REPLACE TEMP TABLE core_read_files (input_group INTEGER, file_index INTEGER, link VARCHAR)
