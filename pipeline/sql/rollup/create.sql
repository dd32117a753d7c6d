-- Purpose: the rollup, as the engine fills it and as it is ranked.
-- Grain:   UTC date x public model x source.
CREATE OR REPLACE TEMP TABLE core_rollup (
  source VARCHAR,
  date DATE,
  model_permaslug VARCHAR,
  tokens HUGEINT,
  requests BIGINT
)
