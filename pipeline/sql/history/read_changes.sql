-- Purpose: the rows of a published changes.csv, for its check, by a reader that shares nothing with its writer.
-- Grain:   date x model, in the file's order.
-- Inputs:  $path.
SELECT op, date, model_permaslug, coalesce(tokens_before, '') AS tokens_before, coalesce(tokens_after, '') AS tokens_after
FROM read_csv(
  $path,
  columns = {
    op: 'VARCHAR', date: 'VARCHAR', model_permaslug: 'VARCHAR', tokens_before: 'VARCHAR', tokens_after: 'VARCHAR'
  },
  auto_detect = false,
  header = true,
  delim = ',',
  quote = '"',
  escape = '"',
  parallel = false
)
