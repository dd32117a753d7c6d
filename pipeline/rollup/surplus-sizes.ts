/** How much is compared at once in the search for duplicates. A test makes these numbers small. */

/**
 * Days are compared in batches of about this many records. Small batches are fastest, because their hashes stay in the
 * processor's cache. Days that share files are compared together, up to a limit on memory: otherwise these files would
 * be read once for each batch.
 */
export const RECORDS_PER_BATCH = { usual: 300_000n, ofSharedFiles: 1_000_000n }

/** The hashes of larger batches, which are single days, are not held in memory: each has eight bytes. */
export const HASHES_IN_MEMORY = 5_000_000n

/** Batches are read again together once this many ids are found, which limits memory. */
export const IDS_PER_SUM = 50_000
