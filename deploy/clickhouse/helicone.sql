-- Helicone. Until the table has merged the versions of a request, the one with the greatest counts is kept (docs/operations.md).
CREATE VIEW tokenboard_usage AS
SELECT
  toDate(request_created_at, 'UTC') AS utc_date,
  request_id,
  model,
  prompt_tokens,
  completion_tokens
FROM request_response_rmt FINAL
WHERE ifNull(toString(cache_reference_id), '') IN ('', '00000000-0000-0000-0000-000000000000')
