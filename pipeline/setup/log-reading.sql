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

-- name: contributors
-- Whom the records name: customers, and API keys.
SELECT
  (SELECT count(DISTINCT contributor) FROM core_contributions) AS customers,
  (SELECT count(DISTINCT api_key_hash) FROM state_sums) AS keys
