-- Every source delivers records, up to the newest date.
-- Grain:  source. `finding` goes on where the name of the source ends, because that name is not published.
-- Inputs: tables core_rollup, core_deliveries, out_rankings_daily.
WITH delivery AS (
  SELECT source, date, requests AS records FROM core_rollup
  UNION ALL
  SELECT source, date, records FROM core_deliveries
),
newest AS (
  SELECT max(date) AS newest_date FROM out_rankings_daily
),
judged_source AS (
  SELECT
    source,
    newest_date,
    sum(records) AS all_records,
    coalesce(sum(records) FILTER (date = newest_date), 0) AS newest_records,
    coalesce(sum(records) FILTER (date BETWEEN newest_date - 7 AND newest_date - 1), 0) AS week_records
  FROM delivery, newest
  GROUP BY source, newest_date
)
SELECT
  CASE WHEN all_records > 0 THEN newest_date::VARCHAR END AS date,
  source,
  CASE
    WHEN all_records > 0 THEN 'delivered no record of this date, although it did for the week before'
    ELSE 'delivered no record at all'
  END AS finding
FROM judged_source
WHERE all_records = 0 OR newest_records = 0 AND week_records > 0
ORDER BY ALL
