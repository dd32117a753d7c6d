-- Purpose: the rollup as the engine delivers it.
-- Grain:   UTC date x model x source.
CREATE OR REPLACE TEMP TABLE core_rollup (
  source VARCHAR,
  date DATE,
  model_permaslug VARCHAR,
  tokens HUGEINT,
  requests BIGINT
)
