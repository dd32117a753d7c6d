-- Sums a day of the table requests for rollup_files (docs/operations.md). It writes one file under a new name: rename it to its day.
SET spark.sql.session.timeZone = UTC;

INSERT OVERWRITE DIRECTORY 's3a://example/staging/2026-11-19' USING parquet
SELECT /*+ COALESCE(1) */
  utc_date,
  model AS model_permaslug,
  CAST(sum(CAST(prompt_tokens + completion_tokens AS DECIMAL(38, 0))) AS DECIMAL(38, 0)) AS tokens,
  count(*) AS requests
FROM (
  SELECT
    utc_date, request_id, model, prompt_tokens, completion_tokens,
    row_number() OVER (
      PARTITION BY utc_date, request_id
      ORDER BY created_at DESC, prompt_tokens DESC, completion_tokens DESC, model DESC
    ) AS copy
  FROM (
    SELECT
      CAST(created_at AS DATE) AS utc_date, created_at, coalesce(request_id, '') AS request_id, model,
      coalesce(prompt_tokens, 0) AS prompt_tokens, coalesce(completion_tokens, 0) AS completion_tokens
    FROM requests
  ) AS records
  WHERE utc_date = DATE '2026-11-19'
    AND prompt_tokens BETWEEN 0 AND 9007199254740991
    AND completion_tokens BETWEEN 0 AND 9007199254740991
) AS copies
WHERE copy = 1 OR request_id = ''
GROUP BY utc_date, model;
