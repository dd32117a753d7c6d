-- Sources in buckets, through DuckDB's extension httpfs. It takes credentials, region and endpoint from the
-- environment.

-- name: install
-- Downloads the extension for this version of DuckDB and this machine.
INSTALL httpfs

-- name: installed
-- Where the extension lies.
SELECT install_path
FROM duckdb_extensions()
WHERE extension_name = 'httpfs'

-- name: load
-- Loads the extension from where it was installed. Nothing is downloaded.
LOAD httpfs

-- name: endpoint
-- The endpoint that the environment names; no row where it is Amazon's.
SELECT value
FROM duckdb_settings()
WHERE name = 's3_endpoint' AND value NOT IN ('', 's3.amazonaws.com')

-- name: address_by_path
-- https://endpoint/bucket/key in place of https://bucket.endpoint/key, which most services other than Amazon's do not
-- have.
SET s3_url_style = 'path'

-- name: set_literal
-- Whether a URL names one object, whatever characters its key has, or is a pattern.
SET s3_url_compatibility_mode = $is_literal

-- name: list
-- The objects that patterns find. Their content is not read.
SELECT filename AS url, size AS bytes, epoch_ms(last_modified) AS modified_ms
FROM read_blob($patterns)

-- name: names
-- Names alone, whatever characters they have.
SELECT file AS url
FROM glob($pattern)

-- name: fetch
-- Copies an object into a file, through memory. Without COMPRESSION, DuckDB would compress into a path that ends in
-- .gz.
COPY (SELECT content FROM read_blob($url)) TO $path (FORMAT blob, COMPRESSION 'none')
