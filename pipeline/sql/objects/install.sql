-- Purpose: the download of that extension, for the version of DuckDB and the machine that run this.
INSTALL httpfs
