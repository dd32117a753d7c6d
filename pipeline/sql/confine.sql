-- Purpose: no file but those of the allowed folders, no network, no extension; and no statement can take that back. Of
--          all settings the time zone alone may still change, since each source has its own.
SET allowed_configs = ['TimeZone'];
SET allow_community_extensions = false;
SET enable_external_access = false;
SET lock_configuration = true;
