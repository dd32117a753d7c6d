-- Purpose: forgets the ties of days that a source has no records of any more.
-- Inputs:  tables state_files, state_sums, state_ties; variable source.
DELETE FROM state_ties
WHERE source = getvariable('source')
  AND day_number NOT IN (
    SELECT day_number FROM state_sums JOIN state_files USING (file_id)
    WHERE source = getvariable('source') AND day_number IS NOT NULL
  )
