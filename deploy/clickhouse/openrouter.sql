-- OpenRouter's broadcast. Its documentation shows no column that identifies a generation. If your table has one, put it in the place
-- of '', so that duplicates are recognized. TRACE_ID does not serve: a trace may hold several generations (docs/operations.md).
CREATE VIEW tokenboard_usage AS
SELECT
  toDate(TIMESTAMP, 'UTC') AS utc_date,
  '' AS request_id,
  MODEL AS model,
  PROMPT_TOKENS AS prompt_tokens,
  COMPLETION_TOKENS AS completion_tokens
FROM OPENROUTER_TRACES
WHERE SPAN_TYPE = 'GENERATION'
