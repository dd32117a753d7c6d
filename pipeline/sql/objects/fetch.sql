-- Purpose: the bytes of an object into a file, through memory. Of a path that ends in .gz DuckDB would compress them.
-- Inputs:  $url, $path.
COPY (SELECT content FROM read_blob($url)) TO $path (FORMAT blob, COMPRESSION 'none')
