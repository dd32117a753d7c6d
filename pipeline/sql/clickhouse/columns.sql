-- Purpose: the columns of the user's view.
-- Grain:   one row per column.
-- Inputs:  {database_name:String}, {view_name:String}.
SELECT name, type FROM system.columns WHERE database = {database_name:String} AND table = {view_name:String}
