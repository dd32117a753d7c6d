-- Purpose: notes which copies stay.
-- Inputs:  tables core_winners, state_ties; variable source.
UPDATE state_ties
SET model = core_winners.winner
FROM core_winners
WHERE source = getvariable('source')
  AND state_ties.day_number = core_winners.day_number
  AND state_ties.models = core_winners.models
