-- Purpose: forgets which sources were read again, when what that changed is published.
-- Inputs:  table state_rereads.
DELETE FROM state_rereads
