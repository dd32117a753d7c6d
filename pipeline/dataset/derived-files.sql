-- Reads models.csv and the files of changes, to verify them and to make pages from them.

-- name: read_models
FROM published_csv(
  $path,
  {
    model_permaslug: 'VARCHAR', name: 'VARCHAR', author: 'VARCHAR', aliases: 'VARCHAR', first_date: 'VARCHAR',
    last_date: 'VARCHAR', days: 'VARCHAR', best_rank: 'VARCHAR', best_rank_date: 'VARCHAR', total_tokens: 'VARCHAR'
  }
)

-- name: read_changes
FROM published_csv(
  $path,
  {op: 'VARCHAR', date: 'VARCHAR', model_permaslug: 'VARCHAR', tokens_before: 'VARCHAR', tokens_after: 'VARCHAR'}
)

-- name: read_changes_of_periods
FROM published_csv(
  $path,
  {
    op: 'VARCHAR', date: 'VARCHAR', model_permaslug: 'VARCHAR', tokens_before: 'VARCHAR', tokens_after: 'VARCHAR',
    days_before: 'VARCHAR', days_after: 'VARCHAR'
  }
)
