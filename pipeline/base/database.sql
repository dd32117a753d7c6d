-- Settings of the session, and what it may reach.

-- name: settings
-- Progress is counted, but DuckDB does not print it. Contents of files are not cached: the operating system does that,
-- and for a thousand files DuckDB's cache took a tenth of all memory. A row group is written as soon as it is full, not
-- with four others: until then it is in memory, uncompressed.
SET enable_progress_bar = true;
SET enable_progress_bar_print = false;
SET enable_external_file_cache = false;
SET write_buffer_row_group_count = 1;

-- name: set_memory_limit
-- How much memory DuckDB may take before it spills to disk, such as 512MiB or 4GB.
SET memory_limit = $memory_limit

-- name: set_allowed_directories
-- Folders that stay within reach after `confine`. A link counts by where it leads.
SET allowed_directories = $folders

-- name: confine
-- No file outside the allowed folders, no network, no extension, and no statement can take that back. Only the number of
-- threads may still change, and the time zone, since each source has its own.
SET allowed_configs = ['TimeZone', 'threads'];
SET allow_community_extensions = false;
SET enable_external_access = false;
SET lock_configuration = true;

-- name: set_threads
SET threads = $threads

-- name: threads
SELECT current_setting('threads') AS threads

-- name: set_time_zone
-- The zone, an IANA name, of text and timestamps without an offset.
SET TimeZone = $time_zone
