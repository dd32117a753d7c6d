-- Purpose: the files that have another name, size or time of change than the state knows; filled by the engine.
-- Grain:   one row per file.
-- Inputs:  none.
CREATE OR REPLACE TEMP TABLE core_renamed (file_id INTEGER, name VARCHAR, bytes BIGINT, modified BIGINT)
