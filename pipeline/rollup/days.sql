-- Sources whose usage is asked for day by day: each day is a file of the state. A tie is a set of copies of a record
-- with the same greatest counts, of which the registry chooses one.

-- name: known
-- `net_records` count or are private: without duplicates and rejected ones.
WITH surplus AS (
  SELECT day_number, sum(records) AS records FROM state_surplus WHERE source = getvariable('source') GROUP BY ALL
)
SELECT
  state_files.file_id,
  any_value(name) AS date,
  any_value(modified) AS asked,
  any_value(sha256) AS sha256,
  any_value(reading) AS reading,
  (coalesce(sum(state_sums.records) FILTER (reject_reason IS NULL), 0) - coalesce(any_value(surplus.records), 0))::BIGINT
    AS net_records
FROM state_files
LEFT JOIN state_sums ON state_files.file_id = state_sums.file_id
LEFT JOIN surplus ON state_sums.day_number = surplus.day_number
WHERE source = getvariable('source')
GROUP BY state_files.file_id
ORDER BY date

-- name: create_sums
-- The answer for one day: delivered and rejected records, and apart from them the surplus. Contributors are names here,
-- or NULL; filled by the engine.
CREATE OR REPLACE TEMP TABLE core_day_sums (
  is_surplus BOOLEAN, reject_reason VARCHAR, model VARCHAR, contributor VARCHAR, records BIGINT, identified_records BIGINT,
  conflicting_records BIGINT, tokens HUGEINT
)

-- name: create_ids
CREATE OR REPLACE TEMP TABLE core_contributor_ids AS
SELECT contributor, name, contributor_id(name) AS id
FROM (
  SELECT contributor, contributor_name(contributor) AS name
  FROM (SELECT DISTINCT contributor FROM core_day_sums WHERE contributor IS NOT NULL)
)

-- name: enter_sums
INSERT INTO state_sums BY NAME
SELECT
  $file_id::INTEGER AS file_id,
  $day_number::BIGINT AS day_number,
  reject_reason,
  model,
  sum(records)::BIGINT AS records,
  sum(identified_records)::BIGINT AS identified_records,
  true AS has_prompt_tokens,
  true AS has_completion_tokens,
  sum(tokens)::HUGEINT AS tokens,
  0 AS cost_usd,
  0 AS misread_charges,
  id AS contributor
FROM core_day_sums
LEFT JOIN core_contributor_ids USING (contributor)
WHERE NOT is_surplus
GROUP BY ALL

-- name: enter_surplus
INSERT INTO state_surplus BY NAME
SELECT
  getvariable('source') AS source,
  $day_number::BIGINT AS day_number,
  model,
  sum(records)::BIGINT AS records,
  sum(conflicting_records)::BIGINT AS conflicting_records,
  sum(tokens)::HUGEINT AS tokens,
  0 AS cost_usd,
  0 AS misread_charges,
  id AS contributor
FROM core_day_sums
LEFT JOIN core_contributor_ids USING (contributor)
WHERE is_surplus
GROUP BY ALL

-- name: forget_names
DROP TABLE core_day_sums;
DROP TABLE core_contributor_ids

-- name: forget_surplus
DELETE FROM state_surplus WHERE source = getvariable('source') AND day_number = $day_number::INTEGER

-- name: forget_ties
DELETE FROM state_ties WHERE source = getvariable('source') AND day_number = $day_number::INTEGER

-- name: create_winners
-- The copy that stays has the greatest slug, as the registry sees it now. Only ties whose winner is
-- another one than before.
CREATE OR REPLACE TEMP TABLE core_winners AS
WITH member AS (
  SELECT day_number, models, unnest(from_json(models, '["VARCHAR"]')) AS name
  FROM state_ties
  WHERE source = getvariable('source')
),
best AS (
  SELECT day_number, models, arg_max(name, (is_valid, model_permaslug, name)) AS winner
  FROM member
  JOIN core_models ON member.name = core_models.model
  GROUP BY ALL
)
SELECT state_ties.day_number, models, model AS previous, winner, records, tokens
FROM state_ties
JOIN best USING (day_number, models)
WHERE source = getvariable('source') AND model IS DISTINCT FROM winner

-- name: settle_ties
-- Takes the winners out of the surplus, and puts the previous ones back.
INSERT INTO state_surplus
SELECT getvariable('source'), day_number, winner, NULL, NULL, NULL, -records, 0, -tokens, 0, 0, NULL, NULL, NULL FROM core_winners
UNION ALL
SELECT getvariable('source'), day_number, previous, NULL, NULL, NULL, records, 0, tokens, 0, 0, NULL, NULL, NULL
FROM core_winners
WHERE previous IS NOT NULL

-- name: note_winners
UPDATE state_ties
SET model = core_winners.winner
FROM core_winners
WHERE source = getvariable('source')
  AND state_ties.day_number = core_winners.day_number
  AND state_ties.models = core_winners.models

-- name: open
-- Records that count of days that are not archived: without duplicates, rejected ones and misdated days.
SELECT
  strftime(DATE '1970-01-01' + day_number::INTEGER, '%Y-%m-%d') AS date,
  sum(records)::BIGINT AS records
FROM (
  SELECT day_number, records
  FROM state_sums
  JOIN state_files USING (file_id)
  WHERE source = getvariable('source') AND reject_reason IS NULL
  UNION ALL
  SELECT day_number, -records FROM state_surplus WHERE source = getvariable('source')
)
WHERE day_number >= getvariable('open_day') AND NOT is_misdated(day_number)
GROUP BY day_number
HAVING sum(records) > 0
ORDER BY date
