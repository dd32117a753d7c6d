-- Purpose: marks the days with records of a model that the registry now sees in another way: of copies that disagree,
--          slug and visibility decide which one stays (DESIGN.md §6.7).
-- Inputs:  tables state_files, state_sums, core_models, state_models, state_touched_days; variable source.
INSERT INTO state_touched_days
WITH changed AS (
  SELECT model, model_permaslug, visibility, is_valid FROM core_models
  EXCEPT
  SELECT model, model_permaslug, visibility, is_valid FROM state_models WHERE source = getvariable('source')
)
SELECT source, day_number
FROM state_sums
JOIN state_files USING (file_id)
JOIN changed USING (model)
WHERE source = getvariable('source') AND reject_reason IS NULL AND identified_records > 0
EXCEPT
FROM state_touched_days
