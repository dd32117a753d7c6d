-- Purpose: the published rows in the published order.
-- Grain:   date x model.
-- Inputs:  table out_rankings_daily.
SELECT strftime(date, '%Y-%m-%d') AS date, model_permaslug, total_tokens::VARCHAR AS total_tokens
FROM out_rankings_daily
ORDER BY date, position
