-- Finds duplicates by request_id, a batch of days at a time, and notes what they counted too much.

-- name: identified_days
-- In which files the records with a request_id lie, so that each day is de-duplicated from its own files alone.
WITH identified AS (
  SELECT day_number, file_id, sum(identified_records)::BIGINT AS records
  FROM core_source_sums
  WHERE reject_reason IS NULL AND identified_records > 0
  GROUP BY ALL
)
SELECT day_number, file_id, records, file_records
FROM identified
JOIN (SELECT file_id, sum(records)::BIGINT AS file_records FROM identified GROUP BY file_id) USING (file_id)
WHERE day_number IN (SELECT day_number FROM core_touched_days)
ORDER BY ALL

-- name: forget
DELETE FROM state_surplus
WHERE source = getvariable('source') AND day_number IN (SELECT day_number FROM core_touched_days)

-- name: create_kept
-- Records with a request_id that were kept of missing files; filled for each batch of days.
CREATE OR REPLACE TEMP TABLE core_kept_usage (
  updated_us BIGINT, instant_us BIGINT, day_number BIGINT, model VARCHAR, prompt_tokens BIGINT, completion_tokens BIGINT, request_id VARCHAR,
  visibility VARCHAR, api_key_hash VARCHAR, cost_usd DECIMAL(18, 9), is_byok BOOLEAN, is_charge_misread BOOLEAN,
  parts STRUCT(input BIGINT, cache_read BIGINT, cache_write BIGINT, reasoning BIGINT, audio BIGINT, total BIGINT),
  bucket STRUCT(end_us BIGINT, parts VARCHAR), contributor BLOB, file_number UINTEGER
)

-- name: read_kept
-- Their files have numbers of their own, from 4,000,000,000 on.
INSERT INTO core_kept_usage BY NAME
SELECT *, (4000000000 + file_index)::UINTEGER AS file_number
FROM read_parquet($paths, hive_partitioning = false)
WHERE day_number BETWEEN $first_day AND $last_day

-- name: ids
-- Of the files at hand and of what is kept of missing files, only what tells whether an id occurs twice. Rejected records
-- are in it too: to know those would take as long as the rest, and they only add candidates.
CREATE OR REPLACE TEMP VIEW core_ids AS
SELECT day_number, request_id, (1000000 * input_group + file_index + 1)::UINTEGER AS file_number FROM core_usage
UNION ALL
SELECT day_number, request_id, 0::UINTEGER FROM core_kept_usage

-- name: kept_ids
-- The same where no file is at hand.
CREATE OR REPLACE TEMP VIEW core_ids AS SELECT day_number, request_id, 0::UINTEGER AS file_number FROM core_kept_usage

-- name: identified_usage
-- The records with a request_id of the files at hand, and those kept of missing files. `contributor` is an id, and
-- `contributor_text` what becomes one: an id takes long to make.
CREATE OR REPLACE TEMP VIEW core_identified_usage AS
SELECT
  updated_us, instant_us, day_number, model, prompt_tokens, completion_tokens, request_id, visibility, api_key_hash,
  cost_usd, is_byok, is_charge_misread, parts, bucket, NULL::BLOB AS contributor, contributor AS contributor_text
FROM core_usage
WHERE reject_reason IS NULL AND request_id IS NOT NULL
UNION ALL
SELECT * EXCLUDE (file_number), NULL FROM core_kept_usage

-- name: identified_kept
-- The same where no file is at hand.
CREATE OR REPLACE TEMP VIEW core_identified_usage AS SELECT * EXCLUDE (file_number), NULL::VARCHAR AS contributor_text
FROM core_kept_usage

-- name: candidates
-- The records whose ids may occur twice. Before rejected ones are left out, and before their models are looked up: both
-- would be done for all that is read.
CREATE OR REPLACE TEMP VIEW core_candidates AS
SELECT
  updated_us, instant_us, day_number, model, prompt_tokens, completion_tokens, request_id, visibility, api_key_hash,
  cost_usd, is_byok, is_charge_misread, parts, bucket, NULL::BLOB AS contributor,
  (1000000 * input_group + file_index + 1)::UINTEGER AS file_number, contributor AS contributor_text, reject_reason
FROM core_usage
UNION ALL
SELECT *, NULL, NULL FROM core_kept_usage WHERE hash(request_id) IN (SELECT id_hash FROM core_repeated_ids)

-- name: kept_candidates
-- The same where no file is at hand.
CREATE OR REPLACE TEMP VIEW core_candidates AS
SELECT *, NULL::VARCHAR AS contributor_text, NULL::VARCHAR AS reject_reason
FROM core_kept_usage
WHERE hash(request_id) IN (SELECT id_hash FROM core_repeated_ids)

-- name: id_hashes
-- Of the ids of a batch. The day is not in the hash: an id that occurs on two days only adds candidates. One of $one_in
-- comes with its file, to be compared with other sources, if it is no short or serial one, which any source may have.
SELECT
  hash(request_id) AS id_hash,
  CASE
    WHEN (id_hash >> 32) & ($one_in - 1)::UBIGINT = 0 AND strlen(request_id) >= 12
      AND NOT regexp_full_match(request_id, '[0-9]+')
    THEN file_number
    ELSE 0
  END AS file_number
FROM core_ids
WHERE request_id IS NOT NULL AND (getvariable('reads_whole_files') OR day_number BETWEEN $first_day AND $last_day)

-- name: repeated_ids
-- The hashes of the ids of several batches, in files of text.
CREATE OR REPLACE TEMP VIEW core_repeated_ids AS
SELECT id_hash
FROM read_csv(
  getvariable('repeated_ids'), columns = {'id_hash': 'UBIGINT'}, auto_detect = false, header = false,
  max_line_size = 100, buffer_size = 1000000, hive_partitioning = false
)

-- name: find_candidates
-- The whole records of the ids of several batches, as they are read. What is inserted into a table, also a temporary one,
-- stays in memory until the transaction ends; a file does not.
COPY (
  SELECT * EXCLUDE (contributor_text) REPLACE (coalesce(contributor, contributor_id(contributor_name(contributor_text))) AS contributor)
  FROM core_candidates
  WHERE getvariable('reads_whole_files') OR day_number BETWEEN $first_day AND $last_day
) TO $path (FORMAT parquet, ROW_GROUP_SIZE 20480)

-- name: create_overlapping
-- The records that only repeat what a wider bucket has; filled for sources of buckets.
CREATE OR REPLACE TEMP TABLE core_overlapping (day_number BIGINT, request_id VARCHAR)

-- name: find_overlapping
-- Buckets of one model that overlap in time, unless both name another value of something that they are sums of. The
-- widest stays, and of those the first. `key` is what two kinds of records both name, so that they are joined by it.
INSERT INTO core_overlapping
WITH record AS (
  SELECT
    day_number,
    request_id,
    model_permaslug,
    file_number,
    instant_us AS start_us,
    bucket.end_us AS end_us,
    from_json(bucket.parts, '["VARCHAR"]') AS names,
    max(prompt_tokens + completion_tokens) AS tokens
  FROM read_parquet($candidates, hive_partitioning = false)
  JOIN core_models USING (model)
  WHERE bucket.end_us > instant_us AND is_valid AND reject_reason IS NULL
    AND day_number IN (SELECT day_number FROM core_touched_days)
  GROUP BY ALL
),
-- Once for each day that it has a part of.
bucket AS (
  SELECT DISTINCT
    day_number,
    request_id,
    model_permaslug,
    start_us,
    end_us,
    names,
    list_transform(names, lambda name: name IS NOT NULL) AS named,
    unnest(range(start_us // 86400000000, least((end_us - 1) // 86400000000, start_us // 86400000000 + 366) + 1)) AS part_day
  FROM record
),
-- Most exports have none that overlap, and many records.
suspect AS (
  SELECT part_day, model_permaslug
  FROM (
    SELECT
      part_day, model_permaslug, start_us,
      max(end_us) OVER (
        PARTITION BY part_day, model_permaslug
        ORDER BY start_us, end_us DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS latest_end_us
    FROM (SELECT DISTINCT part_day, model_permaslug, start_us, end_us FROM bucket)
  )
  GROUP BY ALL
  HAVING bool_or(start_us < latest_end_us)
),
keyed AS (
  SELECT
    bucket.*,
    other.named AS other_named,
    list_transform(names, lambda name, position: CASE WHEN other.named[position] THEN name END) AS key
  FROM bucket
  JOIN (SELECT DISTINCT part_day, model_permaslug, named FROM bucket SEMI JOIN suspect USING (part_day, model_permaslug))
    AS other USING (part_day, model_permaslug)
),
-- Which names a file has in the records of a bucket, a bit for each.
page AS (
  SELECT
    file_number, model_permaslug, start_us, end_us,
    bit_or(list_sum(list_transform(names, lambda name, position: CASE WHEN name IS NULL THEN 0 ELSE 1 << (position - 1) END))::BIGINT)
      AS names_had
  FROM record
  GROUP BY ALL
),
-- The records of a file that a record of another file, which names less of the same bucket, is the sum of.
part AS (
  SELECT
    record.*,
    whole_page.file_number AS whole_file,
    list_transform(names, lambda name, position: CASE WHEN whole_page.names_had & (1 << (position - 1)) > 0 THEN name END) AS key
  FROM page AS whole_page
  JOIN page AS part_page USING (model_permaslug, start_us, end_us)
  JOIN record
    ON record.file_number = part_page.file_number
    AND record.model_permaslug = part_page.model_permaslug
    AND record.start_us = part_page.start_us
    AND record.end_us = part_page.end_us
  WHERE whole_page.names_had <> part_page.names_had
    AND whole_page.names_had & part_page.names_had = whole_page.names_had
),
whole AS (
  SELECT
    whole.day_number,
    whole.request_id,
    whole.tokens,
    part.file_number,
    list(DISTINCT part.request_id) AS part_ids,
    sum(part.tokens) AS part_tokens,
    max(part.tokens) FILTER (part.request_id = whole.request_id) AS rest_tokens
  FROM record AS whole
  JOIN part
    ON whole.file_number = part.whole_file
    AND whole.model_permaslug = part.model_permaslug
    AND whole.start_us = part.start_us
    AND whole.end_us = part.end_us
    AND whole.names = part.key
  GROUP BY ALL
)
SELECT narrow.day_number, narrow.request_id
FROM keyed AS narrow
SEMI JOIN keyed AS wide
  ON narrow.part_day = wide.part_day
  AND narrow.model_permaslug = wide.model_permaslug
  AND narrow.named = wide.other_named
  AND narrow.other_named = wide.named
  AND narrow.key = wide.key
  AND narrow.start_us < wide.end_us
  AND wide.start_us < narrow.end_us
  AND (wide.end_us - wide.start_us, narrow.start_us) > (narrow.end_us - narrow.start_us, wide.start_us)
UNION
-- What one file does not group has all that another file groups. Fetched earlier it may have less, and then the groups
-- stay; if they name nobody either, these two are one record, and only a sum of all has more than the rest.
SELECT
  day_number,
  unnest(
    CASE
      WHEN tokens >= part_tokens OR tokens > rest_tokens THEN list_filter(part_ids, lambda id: id <> request_id)
      WHEN rest_tokens IS NULL THEN [request_id]
      ELSE []
    END
  )
FROM whole

-- name: sum
-- Whole records decide, not the hashes of their ids. Sums are written as text, for Parquet has no integer of 128 bits.
COPY (
  WITH candidate AS (
    SELECT
      usage.* EXCLUDE (visibility),
      usage.visibility AS own_visibility,
      core_models.model_permaslug,
      -- A copy that must not be published wins: private before withheld before public.
      list_position(['public', 'withheld', 'private'], visibility_of(usage.visibility, core_models.visibility)) AS secrecy
    FROM read_parquet($candidates, hive_partitioning = false) AS usage
    JOIN core_models ON usage.model = core_models.model AND core_models.is_valid
    WHERE usage.reject_reason IS NULL AND usage.day_number IN (SELECT day_number FROM core_touched_days)
  ),
  copy AS (
    SELECT
      *,
      row_number() OVER best_first AS position,
      row(instant_us, prompt_tokens, completion_tokens, model_permaslug, secrecy, cost_usd, api_key_hash, is_byok)
        AS content,
      first_value(content) OVER best_first AS best_content,
      (day_number, request_id) IN (FROM core_overlapping) AS is_overlapping
    FROM candidate
    WINDOW best_first AS (
      PARTITION BY day_number, request_id
      ORDER BY
        updated_us DESC NULLS LAST, instant_us DESC, prompt_tokens DESC, completion_tokens DESC, model_permaslug DESC,
        secrecy DESC, cost_usd DESC, api_key_hash DESC NULLS LAST, is_byok DESC,
        -- Not published. Ids under a lost key come last.
        known_contributor(contributor) DESC NULLS LAST, contributor DESC NULLS LAST
    )
  )
  SELECT
    getvariable('source') AS source,
    day_number,
    model,
    own_visibility AS visibility,
    api_key_hash,
    is_byok,
    count(*) AS records,
    count(*) FILTER (content IS DISTINCT FROM best_content) AS conflicting_records,
    sum(prompt_tokens + completion_tokens)::VARCHAR AS tokens,
    sum(cost_usd) AS cost_usd,
    count(*) FILTER (is_charge_misread) AS misread_charges,
    sum_of_parts(parts, prompt_tokens + completion_tokens)::VARCHAR AS parts,
    contributor,
    CASE WHEN position > 1 THEN 'duplicate' ELSE 'overlapping_bucket' END AS reason
  FROM copy
  WHERE position > 1 OR is_overlapping
  GROUP BY ALL
) TO $path (FORMAT parquet)

-- name: find_shared
-- Ids of new files that files of other sources have, too: as many as the samples stand for.
INSERT INTO state_shared_ids
SELECT one.file_id, other.file_id, sum(greatest(one.one_in, other.one_in))::BIGINT
FROM state_sampled_ids AS one
JOIN state_sampled_ids AS other USING (id_hash)
JOIN state_files ON state_files.file_id = other.file_id
WHERE one.file_id IN (SELECT unnest($file_ids)::INTEGER) AND source <> getvariable('source')
GROUP BY ALL

-- name: create_shared
-- Ids that two sources share on a date. Those of two files are as many on each date that both have.
CREATE OR REPLACE TEMP TABLE core_shared_ids AS
WITH identified AS (
  SELECT source, file_id, day_number, sum(identified_records) AS ids
  FROM state_sums
  JOIN state_files USING (file_id)
  WHERE reject_reason IS NULL AND identified_records > 0 AND NOT is_misdated(day_number)
    AND EXISTS (FROM state_shared_ids)
  GROUP BY ALL
),
day AS (
  SELECT source, day_number, sum(ids) AS ids FROM identified GROUP BY ALL
),
shared AS (
  SELECT
    least(one.source, other.source) AS source,
    greatest(one.source, other.source) AS other_source,
    day_number,
    state_shared_ids.ids / count(*) OVER (PARTITION BY one.file_id, other.file_id) AS ids
  FROM state_shared_ids
  JOIN identified AS one ON one.file_id = state_shared_ids.file_id
  JOIN identified AS other USING (day_number)
  WHERE other.file_id = other_file_id
)
SELECT
  shared.source,
  other_source,
  DATE '1970-01-01' + day_number::INTEGER AS date,
  sum(shared.ids)::BIGINT AS ids,
  least(any_value(day.ids), any_value(other_day.ids))::BIGINT AS of_ids
FROM shared
JOIN day USING (source, day_number)
JOIN day AS other_day ON other_day.source = other_source AND other_day.day_number = shared.day_number
GROUP BY ALL

-- name: keep
-- All batches at once: many small insertions would take several times the memory.
INSERT INTO state_surplus BY NAME
SELECT * REPLACE (tokens::HUGEINT AS tokens) FROM read_parquet($paths, hive_partitioning = false)
