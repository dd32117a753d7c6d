-- Purpose: settings of every connection: progress is counted but not printed by DuckDB itself. What was read of files is
--          not kept: the operating system does that, and for a thousand files it was a tenth of all memory.
SET enable_progress_bar = true;
SET enable_progress_bar_print = false;
SET enable_external_file_cache = false;
