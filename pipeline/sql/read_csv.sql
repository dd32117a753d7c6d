-- Purpose: the rows of a published CSV file, for its check, by a reader that shares nothing with its writer.
-- Grain:   date x model, in the file's order.
-- Inputs:  $path, $compression.
SELECT *
FROM read_csv(
  $path,
  columns = {date: 'VARCHAR', model_permaslug: 'VARCHAR', total_tokens: 'VARCHAR'},
  compression = $compression,
  auto_detect = false,
  header = true,
  delim = ',',
  quote = '"',
  escape = '"',
  parallel = false
)
