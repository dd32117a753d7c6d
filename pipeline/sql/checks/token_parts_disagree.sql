-- The token counts of a record contradict each other in at most 1 % of a source's records.
-- Grain:  source. `finding` goes on where the name of the source ends, and `detail` where the finding ends: neither the name
--         nor the numbers of a source are published.
-- Inputs: table core_parts_disagree.
SELECT
  source,
  'has token counts that contradict each other in more than 1 % of its records' AS finding,
  format(
    '{:,} of {:,} ({})',
    sum(records)::BIGINT,
    any_value(accepted_records),
    string_agg(format('{} {:,}', reason, records), ', ' ORDER BY reason)
  ) AS detail
FROM core_parts_disagree
GROUP BY source
HAVING 100 * sum(records) > any_value(accepted_records)
ORDER BY source
