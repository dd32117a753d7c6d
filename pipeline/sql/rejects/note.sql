-- Purpose: notes which rejected records of a source were written.
-- Inputs:  tables core_rejected, state_rejects; variable source.
INSERT INTO state_rejects SELECT getvariable('source'), file, sha256, reason, records FROM core_rejected
