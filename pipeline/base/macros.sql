-- How values of raw files are read. Each macro returns NULL for a value that is to be rejected.
-- Instants are microseconds since 1970-01-01T00:00:00Z, cut and never rounded. The session's TimeZone applies to text
-- and timestamps without an offset.

-- name: define

-- The forms of ISO 8601 that DuckDB does not read, in the one that it does: capital letters, a point before the
-- fraction, seconds, no space before the offset.
CREATE OR REPLACE TEMP MACRO plain_instant(value) AS
  regexp_replace(
    regexp_replace(upper(replace(value, ',', '.')), '^(.{13}:\d\d)( ?(Z|[+-].*))?$', '\1:00\2'),
    ' (Z|[+-])', '\1'
  );

CREATE OR REPLACE TEMP MACRO instant_from_iso(value) AS
  CASE
    WHEN regexp_full_match(
      value,
      '\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?([Zz]|UTC|[+-](0\d|1[0-8])(:?[0-5]\d)?))?'
    ) THEN epoch_us(coalesce(try_cast(value AS TIMESTAMPTZ), try_cast(plain_instant(value) AS TIMESTAMPTZ)))
  END;

-- The basic form of ISO 8601, 20260301T100000Z, in the extended one; other text as it is.
CREATE OR REPLACE TEMP MACRO extended_instant(value) AS
  regexp_replace(
    regexp_replace(value, '^(\d{4})(\d\d)(\d\d)([Tt]\d\d)(\d\d)', '\1-\2-\3\4:\5'),
    '^(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d)(\d\d)', '\1:\2'
  );

-- What Go's time.Time.String() writes, without the name of its zone and the reading of its monotonic clock.
CREATE OR REPLACE TEMP MACRO instant_without_zone_name(value) AS
  regexp_replace(value, '^(.{19}(?:\.\d+)? [+-]\d{4}) (?:[A-Z]{1,6}|[+-]\d\d(?:\d\d)?)(?: m=[+-]\d+\.\d+)?$', '\1');

-- A date without a time is a UTC day in every time zone.
CREATE OR REPLACE TEMP MACRO instant_from_text(value) AS
  coalesce(
    instant_from_iso(value),
    CASE
      WHEN regexp_full_match(value, '\d{4}-\d\d-\d\d') THEN epoch_us(try_cast(value || 'T00:00:00Z' AS TIMESTAMPTZ))
      ELSE instant_from_iso(instant_without_zone_name(extended_instant(value)))
    END
  );

-- Text that may be a decimal number. DuckDB alone would read 1_000 as a thousand; to everyone else it is no number.
CREATE OR REPLACE TEMP MACRO number_text(value) AS
  CASE WHEN NOT contains(value, '_') THEN value END;

-- Relative time: a number of units after base_us. A unit is given in microseconds. Digits beyond the ninth are cut off
-- first, because the cast to DECIMAL would round them up, into the next day at worst.
CREATE OR REPLACE TEMP MACRO instant_from_number(value, base_us, unit_us) AS
  try_cast(
    base_us::HUGEINT
      + floor(try_cast(regexp_replace(number_text(value), '(\.\d{9})\d+$', '\1') AS DECIMAL(28, 9)) * unit_us)
    AS BIGINT
  );

-- A whole number is milliseconds and one with a decimal point is seconds, for sources that do not say time_unit.
CREATE OR REPLACE TEMP MACRO instant_from_bare_number(value, base_us) AS
  instant_from_number(value, base_us, CASE WHEN contains(value, '.') THEN 1000000 ELSE 1000 END);

-- A calendar date as the first instant of that UTC day, whatever the session's zone.
CREATE OR REPLACE TEMP MACRO instant_from_day(value) AS
  CASE
    WHEN regexp_full_match(value, '\d{4}-\d\d-\d\d([T ]00:00:00(\.0+)?Z?)?')
    THEN epoch_us(try_cast(value[:10] || 'T00:00:00Z' AS TIMESTAMPTZ))
  END;

CREATE OR REPLACE TEMP MACRO instant_from_nanoseconds(value) AS
  CASE WHEN regexp_full_match(value, '\d{1,19}') THEN (try_cast(value AS HUGEINT) // 1000)::BIGINT END;

-- Whether a day cannot be right: a wrong unit of time makes such timestamps. False without a day.
CREATE OR REPLACE TEMP MACRO is_misdated(day_number) AS
  coalesce(day_number NOT BETWEEN getvariable('first_credible_day') AND getvariable('last_credible_day'), false);

-- Whether a record may be published: what it says itself wins over its model, but makes no name public that looks private.
CREATE OR REPLACE TEMP MACRO visibility_of(own, of_model) AS
  CASE
    WHEN of_model = 'stays_private' THEN 'private'
    WHEN of_model = 'looks_private' AND own IS DISTINCT FROM 'private' THEN 'withheld'
    ELSE coalesce(own, of_model)
  END;

-- Days outside year 1 to 9999 have no date of ten characters; they are outside every dataset anyway.
CREATE OR REPLACE TEMP MACRO day_in_range(day) AS
  least(greatest(day, -719162), 2932896);

-- A name without byte order marks before it: the client's text decoder drops one, and the name would be another there.
CREATE OR REPLACE TEMP MACRO without_mark(name) AS ltrim(name, chr(65279));

-- Why a record is rejected, if it is. `malformed` is the reason for what is no record.
CREATE OR REPLACE TEMP MACRO reject_reason(malformed, is_undated, is_left_out, is_miscounted, is_silent, model, visibility) AS
  CASE
    WHEN malformed IS NOT NULL THEN malformed
    WHEN is_undated THEN 'invalid_timestamp'
    -- No rejection, though it stands here: a record that the schema leaves out is as good as any, and counted apart.
    WHEN is_left_out THEN 'left_out'
    WHEN is_miscounted THEN 'invalid_token_count'
    -- No rejection either: nothing is lost of it.
    WHEN is_silent AND coalesce(model, '') = '' THEN 'nothing_used'
    WHEN visibility NOT IN ('public', 'private') THEN 'invalid_visibility'
  END;

-- 9007199254740991 is 2^53 - 1, the largest integer that every reader of JSON holds exactly.
CREATE OR REPLACE TEMP MACRO count_in_range(value) AS
  CASE WHEN value BETWEEN 0 AND 9007199254740991 THEN value::BIGINT END;

CREATE OR REPLACE TEMP MACRO count_from_text(value) AS
  CASE
    WHEN value IS NULL OR value = '' THEN 0
    -- As good as every count is written as DuckDB writes it, which is found out in a third of the time.
    WHEN try_cast(value AS BIGINT)::VARCHAR = value THEN count_in_range(try_cast(value AS BIGINT))
    WHEN regexp_full_match(value, ' *\+?[0-9]+(\.0+)? *') THEN count_in_range(try_cast(value AS HUGEINT))
  END;

CREATE OR REPLACE TEMP MACRO count_from_integer(value) AS
  CASE WHEN value IS NULL THEN 0 ELSE count_in_range(value) END;

-- A sum of counts, which may be larger than a count: up to 2^63 - 1. As digits, for a floating number of that size is
-- none.
CREATE OR REPLACE TEMP MACRO sum_from_text(value) AS
  CASE
    WHEN value IS NULL OR value = '' THEN 0
    WHEN regexp_full_match(value, '[0-9]+(\.0+)?') THEN try_cast(split_part(value, '.', 1) AS BIGINT)
  END;

-- NaN is tried too: it equals itself, and a comparison is left out where the footer of a file says that all numbers are
-- in range, which says nothing about NaN.
CREATE OR REPLACE TEMP MACRO whole_count(value) AS
  CASE WHEN value = floor(value) THEN count_in_range(try_cast(value AS BIGINT)) END;

CREATE OR REPLACE TEMP MACRO count_from_fraction(value) AS
  CASE WHEN value IS NULL THEN 0 ELSE whole_count(value) END;

-- JSON values arrive as JSON text: strings in quotes, null as the word, an absent key as NULL.
CREATE OR REPLACE TEMP MACRO text_from_json(value) AS
  CASE WHEN value IS NOT NULL AND value <> 'null' THEN value ->> '$' END;

CREATE OR REPLACE TEMP MACRO string_from_json(value) AS
  CASE WHEN starts_with(value, '"') THEN value ->> '$' END;

CREATE OR REPLACE TEMP MACRO count_from_json(value) AS
  CASE
    WHEN value IS NULL OR value = 'null' THEN 0
    -- As in text; what has a point or an exponent is left to the last line.
    WHEN try_cast(value::VARCHAR AS BIGINT)::VARCHAR = value::VARCHAR THEN count_in_range(try_cast(value::VARCHAR AS BIGINT))
    WHEN starts_with(value, '"') THEN count_from_text(value ->> '$')
    -- As text first: as JSON, true would become 1 and a list an error.
    ELSE whole_count(try_cast(value::VARCHAR AS DOUBLE))
  END;

-- Anything but lower-case hex is no key: it could never be the hash that the server makes of one.
CREATE OR REPLACE TEMP MACRO key_hash_from_text(value) AS
  CASE WHEN regexp_full_match(value, '[0-9a-f]{64}') THEN value END;

CREATE OR REPLACE TEMP MACRO amount_in_range(value) AS
  CASE WHEN value >= 0 THEN value END;

-- USD.
CREATE OR REPLACE TEMP MACRO amount_from_text(value) AS
  CASE
    WHEN value IS NULL OR value = '' THEN 0::DECIMAL(18, 9)
    ELSE amount_in_range(try_cast(number_text(value) AS DECIMAL(18, 9)))
  END;

CREATE OR REPLACE TEMP MACRO flag_from_text(value) AS
  CASE
    WHEN value IS NULL OR value = '' THEN false
    WHEN lower(value) IN ('true', '1') THEN true
    WHEN lower(value) IN ('false', '0') THEN false
  END;

-- The variant of a model as a suffix of its slug; "standard" is the one that goes without saying.
CREATE OR REPLACE TEMP MACRO slug_with_variant(slug, variant) AS
  CASE
    WHEN slug = '' OR coalesce(variant, '') IN ('', 'standard') OR ends_with(slug, ':' || variant) THEN slug
    ELSE slug || ':' || variant
  END;

CREATE OR REPLACE TEMP MACRO json_or_string(value) AS
  CASE WHEN json_valid(value) THEN try_cast(value AS JSON) ELSE to_json(value) END;

-- JSON text with U+FFFD in place of each half of a character, such as \ud83d alone: DuckDB takes it for no JSON.
CREATE OR REPLACE TEMP MACRO without_halves(value) AS
  array_to_string(
    list_transform(
      regexp_extract_all(
        value,
        '(?s)\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]+'
      ),
      lambda piece: CASE WHEN regexp_full_match(piece, '\\u[dD][89a-fA-F]..') THEN '\ufffd' ELSE piece END
    ),
    ''
  );

-- Nested values. Text that should be JSON and is not becomes a JSON string: it has no members, and is not taken for
-- nothing.
CREATE OR REPLACE TEMP MACRO json_from_text(value) AS
  CASE
    WHEN value <> '' THEN
      CASE
        WHEN json_valid(value) THEN try_cast(value AS JSON)
        WHEN regexp_matches(value, '\\u[dD][89a-fA-F]') THEN json_or_string(without_halves(value))
        ELSE to_json(value)
      END
  END;

CREATE OR REPLACE TEMP MACRO json_from_json(value) AS
  CASE WHEN starts_with(value, '"') THEN json_from_text(value ->> '$') ELSE value END;

-- Of a nested column. A value that has no JSON, such as one with a time beyond the calendar, is not taken for nothing.
CREATE OR REPLACE TEMP MACRO json_from_value(value) AS
  coalesce(TRY(to_json(value)), CASE WHEN value IS NOT NULL THEN to_json('') END);

-- Whether paths may lead into a value: an object, a list, or nothing.
CREATE OR REPLACE TEMP MACRO has_members(value) AS
  coalesce(ltrim(value::VARCHAR, chr(32) || chr(9) || chr(10) || chr(13))[1] IN ('{', '[', 'n'), true);

-- The value at the last of some pointers, of which each leads into the value at the one before. JSON text on the way is
-- read as the JSON that it is.
CREATE OR REPLACE TEMP MACRO json_by_steps(value, steps) AS
  list_reduce(steps, lambda found, step: json_extract(json_from_json(found), step)::VARCHAR, value::VARCHAR)::JSON;

-- The value at a pointer, or by the steps to it where there may be JSON text on the way.
CREATE OR REPLACE TEMP MACRO json_inside(value, pointer, may_have_text, steps) AS
  CASE
    WHEN may_have_text THEN coalesce(json_extract(value, pointer), json_by_steps(value, steps))
    ELSE json_extract(value, pointer)
  END;

-- Whether what is at some pointers is nothing, or something that paths may lead into. `all_steps` are those to each of them.
CREATE OR REPLACE TEMP MACRO leads_on(value, pointers, all_steps) AS
  CASE
    WHEN regexp_matches(json_type(value, pointers)::VARCHAR, 'VARCHAR|INT|DOUBLE|BOOLEAN')
    THEN list_bool_and(list_transform(all_steps, lambda steps: has_members(json_by_steps(value, steps))))
    ELSE true
  END;

-- The members of an object that are not null; none where there is nothing, NULL where there is something else.
CREATE OR REPLACE TEMP MACRO json_members(value) AS
  CASE coalesce(json_type(value), 'NULL')
    WHEN 'NULL' THEN []
    WHEN 'OBJECT' THEN
      list_filter(
        list_transform(
          list_zip(json_keys(value), json_extract(value, '$.*')),
          lambda pair: {'name': pair[1], 'value': pair[2]}
        ),
        lambda member: member.value <> 'null'
      )
  END;

-- What an OTLP value such as {"intValue": "5"} holds.
CREATE OR REPLACE TEMP MACRO otlp_value(value) AS
  list_filter(json_extract(value, '$.*'), lambda held: held <> 'null')[1];

-- Attributes as an object, or as the list of {"key", "value"} that OTLP writes.
CREATE OR REPLACE TEMP MACRO attributes_from_json(value) AS
  CASE
    WHEN json_type(value) = 'ARRAY' THEN
      list_filter(
        list_transform(
          json_extract(value, '$[*]'),
          lambda item: {'name': item ->> '$.key', 'value': otlp_value(item -> '$.value')}
        ),
        lambda member: member.value IS NOT NULL
      )
    ELSE json_members(value)
  END;

CREATE OR REPLACE TEMP MACRO member_value(members, name) AS
  list_filter(members, lambda member: member.name = name)[1].value;

-- Whether no member has a name that begins so; false where nobody can tell.
CREATE OR REPLACE TEMP MACRO lacks_members(members, prefix) AS
  coalesce(len(list_filter(members, lambda member: starts_with(member.name, prefix))) = 0, false);

-- Helicone. Whether a row holds cached input, reasoning and audio beside its two counts. `outside_from` is a JSON
-- object of instants by provider in small letters, with a default.
CREATE OR REPLACE TEMP MACRO is_outside(provider, instant_us, outside_from) AS
  instant_us >= coalesce(
    map_extract_value(outside_from::JSON::MAP(VARCHAR, BIGINT), lower(provider)),
    map_extract_value(outside_from::JSON::MAP(VARCHAR, BIGINT), 'default')
  );

-- What the parts of usage add up to (`TOKEN_PARTS` in raw/schemas/schema.ts). Of records without a total of the product,
-- our own is in the sum, unless none has one.
CREATE OR REPLACE TEMP MACRO total_of_parts(parts, tokens) AS
  CASE WHEN count(parts.total) > 0 THEN sum(coalesce(parts.total, tokens)) END;

CREATE OR REPLACE TEMP MACRO sum_of_parts(parts, tokens) AS
  {
    'input': sum(parts.input),
    'cache_read': sum(parts.cache_read),
    'cache_write': sum(parts.cache_write),
    'reasoning': sum(parts.reasoning),
    'audio': sum(parts.audio),
    'total': total_of_parts(parts, tokens)
  };

-- Parts that are subtracted.
CREATE OR REPLACE TEMP MACRO minus_parts(parts) AS
  {
    'input': -parts.input,
    'cache_read': -parts.cache_read,
    'cache_write': -parts.cache_write,
    'reasoning': -parts.reasoning,
    'audio': -parts.audio,
    'total': -parts.total
  };

-- Langfuse. A key of usage_details in small letters, its words apart: promptTokenCount and prompt_token_count are one.
CREATE OR REPLACE TEMP MACRO usage_key(name) AS
  lower(regexp_replace(name, '([a-z0-9])([A-Z])', '\1_\2', 'g'));

CREATE OR REPLACE TEMP MACRO usage_kind_of_key(key) AS
  CASE
    WHEN regexp_full_match(key, 'total(_tokens|_token_count)?') THEN 'total'
    -- A rate is no count, of tokens neither.
    WHEN regexp_matches(key, '(^|_)per(_|$)') THEN 'other'
    WHEN NOT regexp_matches(key, '(^|_)tokens?(_count)?$') AND regexp_matches(
      key,
      '(^|_)(characters?|chars?|images|image_count|pixels|frames|pages|bytes|seconds?|secs?|milliseconds?|ms|minutes?|hours?|'
        || 'duration|latency|requests?|calls?|quer(y|ies)|search(es)?|costs?|prices?|usd|credits?)(_|$)'
    ) THEN 'other'
    WHEN regexp_matches(key, '^(output|completion|candidates)(_|$)|^response_(.*_)?tokens?(_count)?$') THEN 'output'
    WHEN regexp_matches(
      key,
      '^(input|prompt|cache|cached|reasoning|thoughts|thinking|audio|text)(_|$)|(^|_)tokens?(_|$)'
    ) THEN 'input'
    ELSE 'other'
  END;

-- What a key of usage_details counts: tokens of the output or of the input, all of them (total), or no tokens (other).
-- The names are those that Langfuse writes and prices; docs/sources.md has where they stand. The common names come
-- first and need no pattern.
CREATE OR REPLACE TEMP MACRO usage_kind(name) AS
  CASE
    WHEN name IN ('input', 'input_cached_tokens', 'input_cache_creation', 'input_cache_read', 'input_tokens') THEN 'input'
    WHEN name IN ('output', 'output_reasoning_tokens', 'output_reasoning', 'output_tokens') THEN 'output'
    WHEN name = 'total' THEN 'total'
    ELSE usage_kind_of_key(usage_key(name))
  END;

-- Which part of the input or output a key counts, if not all of it (`TOKEN_PARTS`).
CREATE OR REPLACE TEMP MACRO usage_part(name) AS
  CASE
    WHEN name IN ('input', 'input_tokens', 'output', 'output_tokens', 'total') THEN NULL
    WHEN regexp_matches(name, '[Cc]ache.*([Cc]reat|[Ww]rit)') THEN 'cache_write'
    WHEN regexp_matches(name, '[Cc]ache') THEN 'cache_read'
    WHEN regexp_matches(name, '[Rr]easoning|[Tt]hought|[Tt]hinking') THEN 'reasoning'
    WHEN regexp_matches(name, '[Aa]udio') THEN 'audio'
  END;

CREATE OR REPLACE TEMP MACRO usage_parts(members) AS
  list_transform(
    members,
    lambda member: {
      'name': member.name,
      'kind': usage_kind(member.name),
      'part': usage_part(member.name),
      'tokens': count_from_json(member.value)
    }
  );

-- The sum of the parts of this name; NULL if there are none.
CREATE OR REPLACE TEMP MACRO usage_of_part(parts, wanted) AS
  count_in_range(
    list_sum(list_transform(parts, lambda part: CASE WHEN part.part = wanted AND part.kind IN ('input', 'output') THEN part.tokens END))
  );

-- What the parts of these kinds add up to.
CREATE OR REPLACE TEMP MACRO usage_of_kind(parts, wanted) AS
  coalesce(list_sum(list_transform(parts, lambda part: CASE WHEN part.kind = wanted THEN part.tokens END)), 0);

-- Names as a JSON list, short whatever a record holds: the first 20, each cut to 60 characters.
CREATE OR REPLACE TEMP MACRO short_list(names) AS
  to_json([name[:60] FOR name IN list_sort(names)[:20]])::VARCHAR;

-- The sums of the parts. `given` is the key total, `named` a total by another name. What counts no tokens may be
-- anything.
CREATE OR REPLACE TEMP MACRO usage_sums(parts) AS
  {
    'is_known': parts IS NOT NULL AND list_bool_and(
      list_concat([true], list_transform(parts, lambda part: part.kind = 'other' OR part.tokens IS NOT NULL))
    ),
    'input': usage_of_kind(parts, 'input'),
    'output': usage_of_kind(parts, 'output'),
    'other': usage_of_kind(parts, 'other'),
    'given': coalesce(list_max(list_transform(parts, lambda part: CASE WHEN part.name = 'total' THEN part.tokens END)), 0),
    'named': coalesce(
      list_max(
        list_transform(parts, lambda part: CASE WHEN part.kind = 'total' AND part.name <> 'total' THEN part.tokens END)
      ),
      0
    ),
    'totals': usage_of_kind(parts, 'total'),
    'cache_read': usage_of_part(parts, 'cache_read'),
    'cache_write': usage_of_part(parts, 'cache_write'),
    'reasoning': usage_of_part(parts, 'reasoning'),
    'audio': usage_of_part(parts, 'audio'),
    'others': [part.name FOR part IN parts IF part.kind = 'other']
  };

-- The total of a record, 0 where there is none. Langfuse writes one that it adds up itself where none was sent, and
-- adds every key: then the keys that are no tokens are taken off, and a total by another name is the one that was sent.
CREATE OR REPLACE TEMP MACRO usage_total(sums) AS
  CASE
    WHEN sums.given = 0 THEN sums.named
    WHEN sums.given <> sums.input + sums.output + sums.other + sums.totals - sums.given THEN sums.given
    WHEN sums.named > 0 THEN sums.named
    ELSE sums.given - sums.other
  END;

-- The usage of a record of Langfuse from the members of its usage_details; the lists of one element name what is used
-- several times, for a macro would write it out each time. Where a total stands it is the sum: what emitters send as
-- parts may lie inside of each other.
CREATE OR REPLACE TEMP MACRO langfuse_usage(members) AS
  list_transform(
    list_transform(
      list_transform([usage_parts(members)], lambda parts: usage_sums(parts)),
      lambda sums: {'sums': sums, 'total': usage_total(sums)}
    ),
    lambda usage: {
      'prompt': CASE
        WHEN NOT usage.sums.is_known THEN NULL
        WHEN usage.total = 0 THEN count_in_range(usage.sums.input)
        ELSE count_in_range(greatest(usage.total - usage.sums.output, 0))
      END,
      'completion': CASE
        WHEN NOT usage.sums.is_known THEN NULL
        WHEN usage.total = 0 THEN count_in_range(usage.sums.output)
        ELSE count_in_range(least(usage.sums.output, usage.total))
      END,
      'cache_read': usage.sums.cache_read,
      'cache_write': usage.sums.cache_write,
      'reasoning': usage.sums.reasoning,
      'audio': usage.sums.audio,
      'total': count_in_range(usage.total),
      'is_output_above_total': usage.total > 0 AND usage.sums.output > usage.total,
      'is_not_total': usage.total > 0 AND usage.sums.input + usage.sums.output NOT IN (0, usage.total),
      'others': CASE WHEN len(usage.sums.others) > 0 THEN short_list(usage.sums.others) END
    }
  )[1];

-- A contributor in one spelling, as one_spelling (contributor-name.ts) has it; NULL for what names nobody. Nearly all texts
-- are plain, and DuckDB folds those in a tenth of the time.
CREATE OR REPLACE TEMP MACRO contributor_name(value) AS
  CASE
    WHEN regexp_full_match(value, '[A-Za-z]( ?[A-Za-z0-9_@.:/|-])*|[1-9][0-9]{0,37}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
    THEN lower(value)
    ELSE one_spelling(value)
  END;

-- An id of a contributor by its name: four bytes of the key's own hash, then 16 bytes of HMAC-SHA256 (RFC 2104). The
-- variables have the key's hash and its two paddings as hex.
CREATE OR REPLACE TEMP MACRO contributor_id(name) AS
  unhex(
    getvariable('contributor_key_id') || left(
      sha256(
        unhex(
          getvariable('contributor_outer_key')
          || sha256(unhex(getvariable('contributor_inner_key') || hex(encode(name))))
        )
      ),
      32
    )
  );

-- The id, unless it was made with another key: then nobody can say whose it is.
CREATE OR REPLACE TEMP MACRO known_contributor(id) AS
  CASE WHEN id[1:4] = unhex(getvariable('contributor_key_id')) THEN id END;

-- A published CSV file as text, with '' for empty fields. `names` has each column as VARCHAR. It shares nothing with the
-- code that writes these files.
CREATE OR REPLACE TEMP MACRO published_csv(path, names) AS TABLE
  SELECT coalesce(COLUMNS(*), '')
  FROM read_csv(
    path,
    columns = names,
    auto_detect = false,
    header = true,
    delim = ',',
    quote = '"',
    escape = '"',
    hive_partitioning = false,
    parallel = false
  );

-- A field of a CSV file, quoted only where needed: DuckDB also quotes `#`, which some readers take for a comment.
CREATE OR REPLACE TEMP MACRO csv_field(text) AS
  CASE WHEN regexp_matches(text, '[",\r\n]') THEN '"' || replace(text, '"', '""') || '"' ELSE text END;

-- The rows of a history as one release has them.
CREATE OR REPLACE TEMP MACRO rows_of_release(history, release) AS TABLE
  FROM read_parquet(history, hive_partitioning = false)
  WHERE valid_from <= release AND (valid_to IS NULL OR valid_to > release)
