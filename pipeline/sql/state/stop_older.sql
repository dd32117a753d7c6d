-- Purpose: stops version 0.1.0, which looks for its own version here and forgets a state that has another one.
-- Inputs:  none.
DROP TABLE IF EXISTS state_format;

CREATE VIEW state_format AS
SELECT
  error(
    'a newer version of Tokenboard wrote the state in DATA_DIR/state: build with that version, or restore DATA_DIR and '
    || 'PUBLIC_DIR from the backup that was made before the upgrade'
  )::INTEGER AS version;
