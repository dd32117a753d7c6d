-- Purpose: the records of one UTC day on one node, with the reason to reject them, if any (DESIGN.md §6.6, §6.8). The
--          pattern says what `slugProblem` says of a name, and holds for no text that is not UTF-8.
-- Grain:   one row per record of the user's view.
-- Inputs:  the user's view; {date:Date}.
SELECT
  ifNull(toString(request_id), '') AS id,
  ifNull(toString(model), '') AS name,
  ifNull(prompt_tokens, 0) AS prompt,
  ifNull(completion_tokens, 0) AS completion,
  multiIf(
    NOT (prompt >= 0 AND prompt <= 9007199254740991 AND toInt64(prompt) = prompt)
      OR NOT (completion >= 0 AND completion <= 9007199254740991 AND toInt64(completion) = completion),
    'invalid_token_count',
    name = 'other' OR NOT match(name, '^[^=+@\\p{Cc}\\p{Cs}\\x{FEFF}-][^\\p{Cc}\\p{Cs}]{0,299}$'),
    'invalid_model',
    ''
  ) AS reject
FROM {database:Identifier}.{view:Identifier}
WHERE utc_date = {date:Date}
