-- What the raw files of one source hold, for the doctor.

-- name: usage
SELECT
  strftime(date, '%Y-%m-%d') AS date,
  model_permaslug AS model,
  sum(tokens)::VARCHAR AS tokens,
  sum(requests)::BIGINT AS records
FROM core_rollup
GROUP BY ALL
ORDER BY date, model
