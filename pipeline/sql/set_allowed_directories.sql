-- Purpose: the folders that stay within reach when all other files are closed; a link counts by where it leads.
-- Inputs:  $folders.
SET allowed_directories = $folders
