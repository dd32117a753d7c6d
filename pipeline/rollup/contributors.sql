-- Whether some usage of a source says whose it is. Only then is there a key for the ids of contributors.

-- name: counted
-- In the files that were just counted.
SELECT count(contributor) > 0 AS has_contributors FROM core_sums

-- name: stored
-- In files of earlier builds, and in archived dates.
SELECT
  (SELECT count(contributor) FROM state_sums JOIN state_files USING (file_id) WHERE source = getvariable('source'))
  + (SELECT count(contributor) FROM core_archive)
  > 0 AS has_contributors
