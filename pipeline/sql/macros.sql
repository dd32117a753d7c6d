-- Purpose: how the values of raw files are read (DESIGN.md §6.8, §6.13). Each macro returns NULL for a value that is
--          to be rejected. Instants are microseconds since 1970-01-01T00:00:00Z, cut and never rounded.
-- Inputs:  the session's TimeZone, for text and timestamps that carry no offset.

-- The forms of ISO 8601 that DuckDB does not read, in the one that it does: capital letters, a point before the
-- fraction, seconds, no space before the offset.
CREATE OR REPLACE TEMP MACRO plain_instant(value) AS
  regexp_replace(
    regexp_replace(upper(replace(value, ',', '.')), '^(.{13}:\d\d)( ?(Z|[+-].*))?$', '\1:00\2'),
    ' (Z|[+-])', '\1'
  );

CREATE OR REPLACE TEMP MACRO instant_from_text(value) AS
  CASE
    WHEN regexp_full_match(
      value,
      '\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?([Zz]|UTC|[+-](0\d|1[0-8])(:?[0-5]\d)?))?)?'
    ) THEN epoch_us(coalesce(try_cast(value AS TIMESTAMPTZ), try_cast(plain_instant(value) AS TIMESTAMPTZ)))
  END;

-- Relative time: a number of units after base_us. A unit is given in microseconds. Digits beyond the ninth are cut off
-- first, because the cast to DECIMAL would round them up, into the next day at worst.
CREATE OR REPLACE TEMP MACRO instant_from_number(value, base_us, unit_us) AS
  try_cast(
    base_us::HUGEINT + floor(try_cast(regexp_replace(value, '(\.\d{9})\d+$', '\1') AS DECIMAL(28, 9)) * unit_us)
    AS BIGINT
  );

-- A whole number is milliseconds and one with a decimal point is seconds, for sources that do not say time_unit.
CREATE OR REPLACE TEMP MACRO instant_from_bare_number(value, base_us) AS
  instant_from_number(value, base_us, CASE WHEN contains(value, '.') THEN 1000000 ELSE 1000 END);

-- 9007199254740991 is 2^53 - 1, the largest integer that every reader of JSON holds exactly.
CREATE OR REPLACE TEMP MACRO count_in_range(value) AS
  CASE WHEN value BETWEEN 0 AND 9007199254740991 THEN value::BIGINT END;

CREATE OR REPLACE TEMP MACRO count_from_text(value) AS
  CASE
    WHEN value IS NULL OR value = '' THEN 0
    WHEN regexp_full_match(value, ' *\+?[0-9]+(\.0+)? *') THEN count_in_range(try_cast(value AS HUGEINT))
  END;

CREATE OR REPLACE TEMP MACRO count_from_integer(value) AS
  CASE WHEN value IS NULL THEN 0 ELSE count_in_range(value) END;

CREATE OR REPLACE TEMP MACRO whole_count(value) AS
  CASE WHEN value = floor(value) THEN count_in_range(value) END;

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
    WHEN starts_with(value, '"') THEN count_from_text(value ->> '$')
    -- As text first: as JSON, true would become 1 and a list an error.
    ELSE whole_count(try_cast(value::VARCHAR AS DOUBLE))
  END;

-- Anything but lower-case hex is no key: it could never be the hash that the server makes of one.
CREATE OR REPLACE TEMP MACRO key_hash_from_text(value) AS
  CASE WHEN regexp_full_match(value, '[0-9a-f]{64}') THEN value END;

CREATE OR REPLACE TEMP MACRO amount_in_range(value) AS
  CASE WHEN value >= 0 THEN value END;

-- USD. DuckDB alone would read 1_000 as a thousand; to everyone else it is no number.
CREATE OR REPLACE TEMP MACRO amount_from_text(value) AS
  CASE
    WHEN value IS NULL OR value = '' THEN 0::DECIMAL(18, 9)
    WHEN NOT contains(value, '_') THEN amount_in_range(try_cast(value AS DECIMAL(18, 9)))
  END;

CREATE OR REPLACE TEMP MACRO flag_from_text(value) AS
  CASE
    WHEN value IS NULL OR value = '' THEN false
    WHEN lower(value) IN ('true', '1') THEN true
    WHEN lower(value) IN ('false', '0') THEN false
  END;
