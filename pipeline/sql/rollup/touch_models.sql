-- Purpose: marks the days with records of a model that the registry now sees in another way: of copies that disagree,
--          slug and visibility decide which one stays (DESIGN.md §6.7).
-- Inputs:  view core_source_sums; tables core_models, state_models, state_touched_days; variable source.
INSERT INTO state_touched_days
WITH changed AS (
  SELECT model, model_permaslug, visibility, is_valid FROM core_models
  EXCEPT
  SELECT model, model_permaslug, visibility, is_valid FROM state_models WHERE source = getvariable('source')
)
SELECT DISTINCT getvariable('source'), day_number
FROM core_source_sums
JOIN changed USING (model)
WHERE reject_reason IS NULL AND identified_records > 0
