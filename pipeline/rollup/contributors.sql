-- Whose usage a source has, as ids (macros.sql), and whether the contributions are what is ranked.

-- name: counted
-- Whether the files that were just counted need a key for ids.
SELECT count(contributor) > 0 AS has_contributors FROM core_all_sums

-- name: stored
-- The same for files of earlier builds and archived dates.
SELECT
  (SELECT count(contributor) FROM state_sums JOIN state_files USING (file_id) WHERE source = getvariable('source'))
  + (SELECT count(contributor) FROM core_archive)
  > 0 AS has_contributors

-- name: under_other_key
-- What has ids under another key than the one at hand: files, and NULL for archived dates.
SELECT file_id, sum(tokens)::HUGEINT AS tokens
FROM (
  SELECT file_id, tokens, contributor FROM state_sums JOIN state_files USING (file_id) WHERE source = getvariable('source')
  UNION ALL
  SELECT NULL, tokens, contributor FROM core_archive
)
WHERE contributor IS NOT NULL AND known_contributor(contributor) IS NULL
GROUP BY file_id

-- name: forget
UPDATE state_sums
SET contributor = NULL
WHERE contributor IS NOT NULL AND file_id IN (SELECT file_id FROM state_files WHERE source = getvariable('source'));

UPDATE state_surplus SET contributor = NULL WHERE contributor IS NOT NULL AND source = getvariable('source')

-- name: respelled
-- Contributors that are written in several ways in what was just read, but for words for nobody, with two of the ways.
SELECT count(*) AS contributors, min(spellings) AS spellings
FROM (
  SELECT list(contributor ORDER BY contributor)[:2] AS spellings
  FROM core_contributor_ids
  WHERE name IN (SELECT name FROM core_contributor_ids WHERE contributor <> name) AND NOT list_contains($words, name)
  GROUP BY name
  HAVING count(*) > 1
)
HAVING count(*) > 0

-- name: count
-- How many contributors the records of a source name, and how many records name one.
SELECT count(DISTINCT contributor)::BIGINT AS contributors, coalesce(sum(records), 0)::BIGINT AS records
FROM core_source_sums
WHERE contributor IS NOT NULL

-- name: delivered
-- Whether any usage of the rollup has a known contributor.
SELECT count(contributor) > 0 AS has_contributors FROM core_contributions

-- name: unbalanced
-- Models whose contributions are not their tokens on a date.
SELECT strftime(date, '%Y-%m-%d') AS date, model_permaslug
FROM (
  SELECT date, model_permaslug, tokens FROM core_rollup
  UNION ALL
  SELECT date, model_permaslug, -tokens FROM core_contributions
)
GROUP BY ALL
HAVING sum(tokens) <> 0
ORDER BY ALL
LIMIT 1
