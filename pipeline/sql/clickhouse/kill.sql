-- Purpose: ends a query that nobody waits for any more, on all nodes.
-- Inputs:  {query_id:String}.
KILL QUERY WHERE query_id = {query_id:String} ASYNC
