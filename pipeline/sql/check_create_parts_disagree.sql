-- Purpose: the accepted records of the sources of which some have token counts that contradict each other.
-- Grain:   source x UTC date x reason; the reason is NULL for records that contradict nothing.
CREATE OR REPLACE TEMP TABLE core_parts_disagree (
  source VARCHAR, date DATE, reason VARCHAR, records BIGINT, public_records BIGINT
)
