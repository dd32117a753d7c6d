-- Reads models.csv and changes.csv, to verify them and to make pages from them. The reader shares nothing with the
-- writer.

-- name: read_models
SELECT
  model_permaslug,
  coalesce(name, '') AS name,
  coalesce(author, '') AS author,
  aliases,
  coalesce(first_date, '') AS first_date,
  coalesce(last_date, '') AS last_date,
  days,
  coalesce(best_rank, '') AS best_rank,
  coalesce(best_rank_date, '') AS best_rank_date,
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

-- name: read_changes
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

-- name: read_changes_of_periods
SELECT
  op,
  date,
  model_permaslug,
  coalesce(tokens_before, '') AS tokens_before,
  coalesce(tokens_after, '') AS tokens_after,
  coalesce(days_before, '') AS days_before,
  coalesce(days_after, '') AS days_after
FROM read_csv(
  $path,
  columns = {
    op: 'VARCHAR', date: 'VARCHAR', model_permaslug: 'VARCHAR', tokens_before: 'VARCHAR', tokens_after: 'VARCHAR',
    days_before: 'VARCHAR', days_after: 'VARCHAR'
  },
  auto_detect = false,
  header = true,
  delim = ',',
  quote = '"',
  escape = '"',
  parallel = false
)
