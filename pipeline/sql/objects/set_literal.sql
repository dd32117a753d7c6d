-- Purpose: whether a URL is that of one object, whatever characters its key has, or a pattern.
-- Inputs:  $is_literal.
SET s3_url_compatibility_mode = $is_literal
