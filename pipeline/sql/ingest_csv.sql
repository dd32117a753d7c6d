-- Purpose: one group of CSV files with the same header, every column as text under the name c<position>.
-- Grain:   one row per CSV record that has as many fields as the header; others go to reject_errors.
-- Inputs:  variables files_N (paths), columns_N (c<position> -> VARCHAR), compression_N, delimiter_N, parallel_N,
--          max_line_size_N, buffer_size_N.
FROM read_csv(
  getvariable('files_N'),
  columns = getvariable('columns_N'),
  compression = getvariable('compression_N'),
  delim = getvariable('delimiter_N'),
  parallel = getvariable('parallel_N'),
  max_line_size = getvariable('max_line_size_N'),
  buffer_size = getvariable('buffer_size_N'),
  auto_detect = false,
  hive_partitioning = false,
  header = true,
  quote = '"',
  escape = '"',
  store_rejects = true,
  rejects_limit = 0
)
