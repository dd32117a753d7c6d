-- Purpose: of copies of a record that have the same greatest counts and models of different names, the one that stays: that
--          of the greatest slug (DESIGN.md §6.7), as the registry sees it now. Only ties whose winner is another one now.
-- Grain:   one row per tie.
-- Inputs:  tables state_ties, core_models; variable source.
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
SELECT state_ties.day_number, models, model AS former, winner, records, tokens
FROM state_ties
JOIN best USING (day_number, models)
WHERE source = getvariable('source') AND model IS DISTINCT FROM winner
