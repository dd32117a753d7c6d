-- Purpose: the rows of a published models.csv, for its check and the pages, by a reader that shares nothing with its writer.
-- Grain:   model, in the file's order.
-- Inputs:  $path.
SELECT
  model_permaslug,
  coalesce(name, '') AS name,
  coalesce(author, '') AS author,
  aliases,
  first_date,
  last_date,
  days,
  best_rank,
  best_rank_date,
  total_tokens
FROM read_csv(
  $path,
  columns = {
    model_permaslug: 'VARCHAR', name: 'VARCHAR', author: 'VARCHAR', aliases: 'VARCHAR', first_date: 'VARCHAR',
    last_date: 'VARCHAR', days: 'VARCHAR', best_rank: 'VARCHAR', best_rank_date: 'VARCHAR', total_tokens: 'VARCHAR'
  },
  auto_detect = false,
  header = true,
  delim = ',',
  quote = '"',
  escape = '"',
  parallel = false
)
