-- The question that version 0.1.0 asked ClickHouse about a day. It tells which days 0.1.0 knows. Never change it.

-- name: day
SELECT
  kind,
  models,
  toString(sum(part_records)) AS records,
  toString(sum(part_identified)) AS identified_records,
  toString(sum(part_conflicting)) AS conflicting_records,
  toString(sum(part_tokens)) AS tokens
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, kind, models, part_records, part_identified, part_conflicting, part_tokens FROM (
    SELECT
      if(reject = '', 'delivered', reject) AS kind,
      if(reject = '', [name], emptyArrayString()) AS models,
      toInt64(count()) AS part_records,
      toInt64(countIf(id != '')) AS part_identified,
      toInt64(0) AS part_conflicting,
      sum(toDecimal128(if(reject = '', toInt64(prompt) + toInt64(completion), 0), 0)) AS part_tokens
    FROM (SELECT
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
WHERE utc_date = {date:Date})
    GROUP BY kind, models
    UNION ALL
    SELECT
      part.1 AS kind,
      part.2 AS models,
      sum(part.3) AS part_records,
      sum(part.3) AS part_identified,
      sum(part.4) AS part_conflicting,
      sum(toDecimal128(part.5, 0) * part.3) AS part_tokens
    FROM (
      SELECT
        arraySort(groupArray((prompt_count, completion_count, name, copies))) AS versions,
        (versions[-1]).1 AS best_prompt,
        (versions[-1]).2 AS best_completion,
        arrayFilter(v -> v.1 = best_prompt AND v.2 = best_completion, versions) AS best,
        arrayConcat(
          arrayMap(v -> ('repeated', [v.3], v.4, toInt64(0), v.1 + v.2), versions),
          [('kept', arrayMap(v -> v.3, best), toInt64(1), arraySum(v -> v.4, versions) - arraySum(v -> v.4, best), best_prompt + best_completion)]
        ) AS parts
      FROM (
        SELECT id, name, toInt64(prompt) AS prompt_count, toInt64(completion) AS completion_count, toInt64(count()) AS copies
        FROM (SELECT
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
WHERE utc_date = {date:Date})
        WHERE reject = '' AND id != '' AND sipHash64(id) IN (
          SELECT sipHash64(id) FROM (SELECT
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
WHERE utc_date = {date:Date}) WHERE id != '' GROUP BY sipHash64(id) HAVING count() > 1
        )
        GROUP BY id, name, prompt_count, completion_count
      )
      GROUP BY id
      HAVING sum(copies) > 1
    )
    ARRAY JOIN parts AS part
    GROUP BY kind, models
  )
) AS answers USING (dummy)
GROUP BY kind, models
ORDER BY kind IN ('kept', 'repeated') DESC, kind, models
