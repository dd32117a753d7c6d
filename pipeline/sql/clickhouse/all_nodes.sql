-- Purpose: one node of every shard.
-- Grain:   one row per shard.
-- Inputs:  {cluster:Identifier}.
cluster({cluster:Identifier}, system, one)
