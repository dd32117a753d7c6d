-- Purpose: the ids that a batch of days has more than once, as 64-bit hashes: a collision only adds a candidate.
-- Grain:   UTC day x hash of a request_id.
-- Inputs:  views core_ids over the files that hold records of the batch, core_touched_days; $first_day,
--          $last_day.
CREATE OR REPLACE TEMP TABLE core_repeated AS
SELECT day_number, hash(request_id) AS id_hash
FROM core_ids
WHERE day_number BETWEEN $first_day AND $last_day
  AND day_number IN (SELECT day_number FROM core_touched_days)
GROUP BY ALL
HAVING count(request_id) > 1
