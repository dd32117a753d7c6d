-- Purpose: the dates of a source that are being closed, summed, names as written: the registry keeps its say.
-- Grain:   UTC day x model name as written x own visibility x API key x BYOK x outcome.
-- Inputs:  view core_net_usage; variable open_day; $before_day, $path.
COPY (
  SELECT
    day_number, model, visibility, api_key_hash, is_byok, outcome,
    sum(records)::BIGINT AS records,
    sum(tokens)::HUGEINT::VARCHAR AS tokens,
    sum(cost_usd)::DECIMAL(38, 9) AS cost_usd,
    sum(misread_charges)::BIGINT AS misread_charges
  FROM core_net_usage
  WHERE day_number >= getvariable('open_day') AND day_number < $before_day
  GROUP BY ALL
  HAVING sum(records) <> 0
  ORDER BY ALL
) TO $path (FORMAT parquet)
