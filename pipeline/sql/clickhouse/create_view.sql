-- Purpose: the view of all usage that a build asks; to be created on every node, over the table that lies on that node, with
--          the names of your own table and columns. Days are UTC days, whatever the zone of the server.
-- Grain:   one row per delivered record.
-- Inputs:  a table of requests.
CREATE VIEW {database:Identifier}.{view:Identifier} AS
SELECT
  toDate(created_at, 'UTC') AS utc_date,
  request_id,
  model,
  prompt_tokens,
  completion_tokens
FROM {database:Identifier}.requests
