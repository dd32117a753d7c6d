-- Purpose: enters into the state what is to be told of how the fresh files were read. A key that every record has in a form
--          of its own would make a note of each: the most frequent ones of a file are kept.
-- Grain:   as state_notes.
-- Inputs:  tables core_sums, core_file_numbers.
INSERT INTO state_notes
WITH notes AS (
  SELECT file_id, note_kind, note_name, sum(records)::BIGINT AS records, sum(note_tokens)::HUGEINT AS tokens
  FROM core_sums
  JOIN core_file_numbers USING (link)
  WHERE note_kind IS NOT NULL
  GROUP BY ALL
)
FROM notes
QUALIFY row_number() OVER (PARTITION BY file_id, note_kind ORDER BY records DESC, note_name) <= 100
