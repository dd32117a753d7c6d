-- What ClickHouse is asked. Marks such as {date:Date} are filled in by pipeline/rollup/clickhouse-statement.ts. A
-- joined part runs on every node over the records that lie there, for a JOIN that is not GLOBAL does.

-- name: settings
-- The settings that this server knows: it refuses a question with any other.
SELECT name FROM system.settings

-- name: one_node
-- The server that is asked, as the only node.
system.one

-- name: all_nodes
-- One node of every shard.
cluster({cluster:Identifier}, system, one)

-- name: create_view
-- The view of all usage that a build asks. Create it on every node over the table that lies on that node, with the
-- names of your own table and columns. Days are UTC days, whatever the zone of the server.
CREATE VIEW {database:Identifier}.{view:Identifier} AS
SELECT
  toDate(created_at, 'UTC') AS utc_date,
  request_id,
  model,
  prompt_tokens,
  completion_tokens
  -- , customer_id AS contributor -- for disclosure control
FROM {database:Identifier}.requests

-- name: columns
-- The columns of the view, one row for each type that a column has on some node.
SELECT part_name AS name, part_type AS type
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, name AS part_name, type AS part_type
  FROM system.columns
  WHERE database = {database_name:String} AND table = {view_name:String}
) AS answers USING (dummy)
GROUP BY part_name, part_type
ORDER BY part_name, part_type

-- name: dates
-- Records by day: days without any need not be asked for, and a day with the same number before and after it was summed
-- did not change meanwhile.
SELECT toString(part_date) AS date, toString(sum(part_records)) AS records
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, utc_date AS part_date, count() AS part_records
  FROM {database:Identifier}.{view:Identifier}
  WHERE utc_date >= {first:Date} AND utc_date <= {last:Date}
  GROUP BY utc_date
) AS answers USING (dummy)
GROUP BY part_date
ORDER BY part_date

-- name: misdated
-- Records whose day cannot be right, which belong to no day that is asked for. Without any, the dates
-- say nothing. 18.16 writes 1970-01-01 as 0000-00-00.
SELECT
  toString(sum(part_records)) AS records,
  replaceOne(toString(min(part_first)), '0000-00-00', '1970-01-01') AS first_date,
  replaceOne(toString(max(part_last)), '0000-00-00', '1970-01-01') AS last_date
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, count() AS part_records, min(utc_date) AS part_first, max(utc_date) AS part_last
  FROM {database:Identifier}.{view:Identifier}
  WHERE utc_date < {first:Date} OR utc_date > {last:Date}
  HAVING count() > 0
) AS answers USING (dummy)

-- name: contributor
-- Whose usage a record is; empty if unknown.
ifNull(toString(contributor), '')

-- name: no_contributor
-- The same if nobody wants to know.
''

-- name: records
-- The records of one UTC day on one node, with the reject reason, if any. The pattern says what
-- `slugProblem` says of a name, and matches no text that is not UTF-8.
SELECT
  ifNull(toString(request_id), '') AS id,
  ifNull(toString(model), '') AS name,
  ifNull(prompt_tokens, 0) AS prompt,
  ifNull(completion_tokens, 0) AS completion,
  {contributor:Statement} AS customer,
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

-- name: day
-- What one UTC day holds, duplicates apart. Ids never leave their shard. As in DuckDB a 64-bit hash
-- finds ids that occur twice, and only these are looked at whole. Sums are Decimal128 and come as text: sums of
-- integers would wrap without a word. What is counted again to verify it comes last, so that an answer that was cut is
-- noticed. Kind x models x contributor. Kinds: delivered, all accepted records, and repeated, those of them whose id
-- occurs again, by the name of their model; kept, of each such id the copy with the greatest counts, by the names of all
-- models that have a copy with these, and without a contributor if such copies differ in model or contributor; or a
-- reject reason, without a name.
SELECT
  kind,
  models,
  contributor,
  toString(sum(part_records)) AS records,
  toString(sum(part_identified)) AS identified_records,
  toString(sum(part_conflicting)) AS conflicting_records,
  toString(sum(part_tokens)) AS tokens
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, kind, models, contributor, part_records, part_identified, part_conflicting, part_tokens FROM (
    SELECT
      if(reject = '', 'delivered', reject) AS kind,
      if(reject = '', [name], emptyArrayString()) AS models,
      if(reject = '', customer, '') AS contributor,
      toInt64(count()) AS part_records,
      toInt64(countIf(id != '')) AS part_identified,
      toInt64(0) AS part_conflicting,
      sum(toDecimal128(if(reject = '', toInt64(prompt) + toInt64(completion), 0), 0)) AS part_tokens
    FROM ({records:Statement})
    GROUP BY kind, models, contributor
    UNION ALL
    SELECT
      part.1 AS kind,
      part.2 AS models,
      part.3 AS contributor,
      sum(part.4) AS part_records,
      sum(part.4) AS part_identified,
      sum(part.5) AS part_conflicting,
      sum(toDecimal128(part.6, 0) * part.4) AS part_tokens
    FROM (
      SELECT
        arraySort(groupArray((prompt_count, completion_count, name, customer, copies))) AS versions,
        (versions[-1]).1 AS best_prompt,
        (versions[-1]).2 AS best_completion,
        arrayFilter(v -> v.1 = best_prompt AND v.2 = best_completion, versions) AS best,
        arrayConcat(
          arrayMap(v -> ('repeated', [v.3], v.4, v.5, toInt64(0), v.1 + v.2), versions),
          [(
            'kept',
            arraySort(arrayDistinct(arrayMap(v -> v.3, best))),
            if(length(best) = 1, (best[1]).4, ''),
            toInt64(1),
            arraySum(v -> v.5, versions) - arraySum(v -> v.5, best),
            best_prompt + best_completion
          )]
        ) AS parts
      FROM (
        SELECT
          id,
          name,
          customer,
          toInt64(prompt) AS prompt_count,
          toInt64(completion) AS completion_count,
          toInt64(count()) AS copies
        FROM ({records:Statement})
        WHERE reject = '' AND id != '' AND sipHash64(id) IN (
          SELECT sipHash64(id) FROM ({records:Statement}) WHERE id != '' GROUP BY sipHash64(id) HAVING count() > 1
        )
        GROUP BY id, name, customer, prompt_count, completion_count
      )
      GROUP BY id
      HAVING sum(copies) > 1
    )
    ARRAY JOIN parts AS part
    GROUP BY kind, models, contributor
  )
) AS answers USING (dummy)
GROUP BY kind, models, contributor
ORDER BY kind IN ('kept', 'repeated') DESC, kind, models, contributor

-- name: sharding
-- How many ids of one UTC day each shard has, added up, and how many there are in all: where the first is more, ids lie
-- on several shards, and their copies would count several times. Of a day with very many ids only those are looked at
-- whose other hash is a multiple of {one_of:UInt64}: the table may be sharded by the first hash.
SELECT
  toString(sum(part_ids)) AS ids_of_shards,
  toString(uniqExactMerge(part_state)) AS ids
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT toUInt8(0) AS dummy, uniqExact(sipHash64(id)) AS part_ids, uniqExactState(sipHash64(id)) AS part_state
  FROM (
    SELECT ifNull(toString(request_id), '') AS id
    FROM {database:Identifier}.{view:Identifier}
    WHERE utc_date = {date:Date} AND ifNull(toString(request_id), '') != ''
  )
  WHERE sipHash64(concat('one of ', id)) % {one_of:UInt64} = 0
) AS answers USING (dummy)

-- name: alike
-- Whether the nodes have different records without ids of one UTC day. Where all have the same, their view most likely
-- reads the table of all nodes, and each record would count once per node. `different` is how many different sets of
-- records the nodes have, `records` how many are in the largest.
SELECT
  toString(count()) AS nodes,
  toString(uniqExact(part_records, part_fingerprint)) AS different,
  toString(max(part_records)) AS records
FROM {nodes:Statement} AS nodes ALL INNER JOIN (
  SELECT
    toUInt8(0) AS dummy,
    count() AS part_records,
    sum(sipHash64(name, toInt64(prompt), toInt64(completion))) AS part_fingerprint
  FROM ({records:Statement})
  WHERE id = '' AND reject = ''
) AS answers USING (dummy)

-- name: progress
-- How far a running query is, on all nodes together; no row when it is over.
SELECT toString(read_rows) AS read_rows, toString(total_rows_approx) AS total_rows
FROM system.processes
WHERE query_id = {query_id:String}

-- name: kill
-- Ends a query that nobody waits for any more.
KILL QUERY WHERE query_id = {query_id:String} ASYNC
