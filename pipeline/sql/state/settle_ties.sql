-- Purpose: takes the copies that stay out of what repeated deliveries counted too much, and puts those back that stayed before.
-- Inputs:  tables core_winners, state_surplus; variable source.
INSERT INTO state_surplus
SELECT getvariable('source'), day_number, winner, NULL, NULL, NULL, -records, 0, -tokens, 0, 0 FROM core_winners
UNION ALL
SELECT getvariable('source'), day_number, former, NULL, NULL, NULL, records, 0, tokens, 0, 0
FROM core_winners
WHERE former IS NOT NULL
