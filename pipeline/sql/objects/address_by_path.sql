-- Purpose: https://endpoint/bucket/key in place of https://bucket.endpoint/key: most services other than Amazon's have no
--          names of their own for buckets, and all of them know this form.
SET s3_url_style = 'path'
