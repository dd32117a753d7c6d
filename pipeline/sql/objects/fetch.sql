-- Purpose: the bytes of an object into a file, through memory.
-- Inputs:  $url, $path.
COPY (SELECT content FROM read_blob($url)) TO $path (FORMAT blob)
