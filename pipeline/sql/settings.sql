-- Purpose: settings of every connection: progress is counted but not printed by DuckDB itself.
SET enable_progress_bar = true;
SET enable_progress_bar_print = false;
