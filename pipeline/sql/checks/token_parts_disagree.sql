-- The token counts of a record contradict each other in at most 1 % of a source's records.
-- Grain:  source. `finding` goes on where the name of the source ends, and `detail` where the finding ends: neither the name
--         nor the numbers of a source are published. What is published depends on public usage alone. `date` is the newest
--         on which more than 1 % of the records contradict themselves: it tells a new fault from one that is known.
-- Inputs: table core_parts_disagree.
WITH by_date AS (
  SELECT
    source,
    date,
    sum(records) AS records,
    coalesce(sum(records) FILTER (reason IS NOT NULL), 0) AS bad,
    sum(public_records) AS public_records,
    coalesce(sum(public_records) FILTER (reason IS NOT NULL), 0) AS public_bad
  FROM core_parts_disagree
  GROUP BY source, date
),
by_source AS (
  SELECT
    source,
    100 * sum(bad) > sum(records) AS is_bad,
    100 * sum(public_bad) > sum(public_records) AS is_public,
    max(date) FILTER (100 * bad > records) AS date,
    max(date) FILTER (100 * public_bad > public_records) AS public_date,
    format('{:,} of {:,}', sum(bad)::BIGINT, sum(records)::BIGINT) AS share,
    format('{:,} of {:,}', sum(public_bad)::BIGINT, sum(public_records)::BIGINT) AS public_share
  FROM by_date
  GROUP BY source
),
by_reason AS (
  SELECT source, reason, sum(records)::BIGINT AS records
  FROM core_parts_disagree
  WHERE reason IS NOT NULL
  GROUP BY source, reason
),
listed AS (
  SELECT source, string_agg(format('{} {:,}', reason, records), ', ' ORDER BY reason) AS reasons
  FROM by_reason
  GROUP BY source
)
SELECT
  CASE WHEN is_public THEN public_date ELSE date END::VARCHAR AS date,
  source,
  is_public,
  'has token counts that contradict each other in more than 1 % of its records, most recently on this date' AS finding,
  share || ' (' || reasons || ')' || CASE WHEN share <> public_share THEN ', of public usage ' || public_share ELSE '' END
    AS detail
FROM by_source
JOIN listed USING (source)
WHERE is_bad OR is_public
ORDER BY source
