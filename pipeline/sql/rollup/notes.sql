-- Purpose: what is to be told of how the files of a source were read.
-- Grain:   kind x name.
-- Inputs:  tables state_files, state_notes; variable source.
SELECT
  kind,
  state_notes.name AS name,
  sum(records)::BIGINT AS records,
  sum(tokens)::VARCHAR AS tokens
FROM state_notes
JOIN state_files USING (file_id)
WHERE source = getvariable('source')
GROUP BY ALL
ORDER BY kind, sum(tokens) DESC, sum(records) DESC, state_notes.name
