-- Purpose: the zone in which text and timestamps without an offset are read.
-- Inputs:  $time_zone, a name of the IANA database.
SET TimeZone = $time_zone
