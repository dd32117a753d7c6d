-- Purpose: the contents that the usage of a source comes from: of the files that the state knows, at hand or kept, and of
--          those that only the archive has. A content that two files have at once counts twice; one that has another name
--          since it was archived, once.
-- Grain:   one row per file.
-- Inputs:  tables state_files, core_archived_inputs; variable source.
WITH known AS (
  SELECT sha256, count(*) AS copies FROM state_files WHERE source = getvariable('source') GROUP BY ALL
),
archived AS (
  SELECT sha256, count(DISTINCT name) AS copies FROM core_archived_inputs GROUP BY ALL
),
contents AS (
  SELECT sha256, max(copies) AS copies FROM (FROM known UNION ALL FROM archived) GROUP BY ALL
)
SELECT sha256
FROM contents, range(copies)
ORDER BY sha256
