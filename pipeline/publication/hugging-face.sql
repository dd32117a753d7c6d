-- Writes as Parquet the tables that a release has as CSV. An empty field becomes NULL.

-- name: write_models
COPY (
  SELECT
    model_permaslug,
    nullif(name, '') AS name,
    nullif(author, '') AS author,
    aliases,
    nullif(first_date, '')::DATE AS first_date,
    nullif(last_date, '')::DATE AS last_date,
    days::BIGINT AS days,
    nullif(best_rank, '')::BIGINT AS best_rank,
    nullif(best_rank_date, '')::DATE AS best_rank_date,
    total_tokens::BIGINT AS total_tokens
  FROM published_csv(
    $path,
    {
      model_permaslug: 'VARCHAR', name: 'VARCHAR', author: 'VARCHAR', aliases: 'VARCHAR', first_date: 'VARCHAR',
      last_date: 'VARCHAR', days: 'VARCHAR', best_rank: 'VARCHAR', best_rank_date: 'VARCHAR', total_tokens: 'VARCHAR'
    }
  )
) TO $target (FORMAT parquet, COMPRESSION zstd, KV_METADATA $metadata)

-- name: write_changes
COPY (
  SELECT
    op,
    date::DATE AS date,
    model_permaslug,
    nullif(tokens_before, '')::BIGINT AS tokens_before,
    nullif(tokens_after, '')::BIGINT AS tokens_after
  FROM published_csv(
    $path,
    {op: 'VARCHAR', date: 'VARCHAR', model_permaslug: 'VARCHAR', tokens_before: 'VARCHAR', tokens_after: 'VARCHAR'}
  )
) TO $target (FORMAT parquet, COMPRESSION zstd, KV_METADATA $metadata)
