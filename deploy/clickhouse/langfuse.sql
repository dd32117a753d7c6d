-- Langfuse. Its id is unique in a project; FINAL takes the last version of an observation (docs/operations.md).
CREATE VIEW tokenboard_usage AS
SELECT
  toDate(start_time, 'UTC') AS utc_date,
  concat(project_id, '/', id) AS request_id,
  provided_model_name AS model,
  arraySum(mapValues(mapFilter((name, tokens) -> NOT startsWith(name, 'output') AND (name != 'total' OR length(mapKeys(usage_details)) = 1), usage_details)))
    AS prompt_tokens,
  arraySum(mapValues(mapFilter((name, tokens) -> startsWith(name, 'output'), usage_details))) AS completion_tokens
FROM observations FINAL
WHERE is_deleted = 0 AND type IN ('GENERATION', 'EMBEDDING')
