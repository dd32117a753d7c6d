-- Purpose: a URL is that of one object, whatever characters its key has: no pattern, and no question.
SET s3_url_compatibility_mode = true
