-- Purpose: the records of the sources that are not in the rollup, so that a source without any is seen.
-- Grain:   source x UTC date, and one row without records for each source; no date where it cannot be read.
CREATE OR REPLACE TEMP TABLE core_deliveries (source VARCHAR, date DATE, records BIGINT)
