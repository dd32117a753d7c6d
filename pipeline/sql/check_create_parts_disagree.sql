-- Purpose: the records of the sources whose token counts contradict each other.
-- Grain:   source x reason; `accepted_records` are all accepted records of the source.
CREATE OR REPLACE TEMP TABLE core_parts_disagree (
  source VARCHAR, reason VARCHAR, records BIGINT, accepted_records BIGINT
)
