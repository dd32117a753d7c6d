import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Transaction } from 'kysely'
import { CATALOGUE_FILE, inListOrder, SHIPPED_CATALOGUE } from '../../pipeline/contract/embeddings-catalogue.ts'
import { CatalogueError, parseCatalogue } from '../schemas/embeddings-catalogue.ts'
import type { EmbeddingsModel } from '../schemas/embeddings-model.ts'
import { type Store, StoreError } from './store.ts'
import type { Tables } from './tables.ts'

/** A revision of the catalogue, in list order, with entries as JSON text. */
export interface Catalogue {
  revision: number
  entries: readonly string[]
  /** A hash of the entries. Stores may give equal revisions to different entries. */
  hash: string
  /** Models by their ids, and by canonical slugs: of those that share one, the first in the list. */
  byName: ReadonlyMap<string, EmbeddingsModel>
}

export type EmbeddingsCatalogue = ReturnType<typeof embeddingsCatalogue>

export function embeddingsCatalogue(store: Store) {
  let known = catalogueOf(0, [])

  /** Grows whenever any process replaces the catalogue; 0 before it is filled. */
  const revision = async () => {
    const row = await store.db.selectFrom('embeddings_catalogue').select('revision').executeTakeFirst()
    return row?.revision ?? 0
  }

  return {
    revision,

    async current(): Promise<Catalogue> {
      // Read the revision before the entries. If the catalogue is replaced in between, the next call reads newer
      // entries again. The other order could cache old entries under the new revision.
      const stored = await revision()
      if (stored !== known.revision) known = catalogueOf(stored, await readEntries(store))
      return known
    },

    /** Replaces all entries. Their ids must differ. */
    async replaceAll(models: readonly EmbeddingsModel[]): Promise<void> {
      await store.write(async (transaction) => {
        // This row first: it serializes writers where a transaction does not lock the whole store.
        await transaction
          .insertInto('embeddings_catalogue')
          .values({ id: 1, revision: 1 })
          .onConflict((conflict) =>
            conflict.column('id').doUpdateSet(({ eb, ref }) => ({
              revision: eb(ref('embeddings_catalogue.revision'), '+', 1),
            })),
          )
          .execute()
        await transaction.deleteFrom('embeddings_models').execute()
        await insertModels(transaction, models)
      })
    },

    /** Fills the catalogue if it never was filled, even if two processes try at once; false otherwise. */
    async fillNew(models: readonly EmbeddingsModel[]): Promise<boolean> {
      return await store.write(async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto('embeddings_catalogue')
          .values({ id: 1, revision: 1 })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .executeTakeFirstOrThrow()
        if (numInsertedOrUpdatedRows === 0n) return false
        await insertModels(transaction, models)
        return true
      })
    },
  }
}

/** Fills the catalogue of a new store from `dataDir` or from the shipped file. */
export async function fillNewCatalogue(catalogue: EmbeddingsCatalogue, dataDir: string): Promise<void> {
  if ((await catalogue.revision()) > 0) return
  const own = join(dataDir, CATALOGUE_FILE)
  await catalogue.fillNew(await readCatalogue(existsSync(own) ? own : fileURLToPath(SHIPPED_CATALOGUE)))
}

async function readCatalogue(path: string): Promise<EmbeddingsModel[]> {
  const text = await readFile(path, 'utf8')
  try {
    return parseCatalogue(text)
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error
    throw new StoreError(`the store cannot be filled from ${path}:\n${error.message}`, { cause: error })
  }
}

function catalogueOf(revision: number, entries: readonly string[]): Catalogue {
  const models = entries.map((entry): EmbeddingsModel => JSON.parse(entry))
  return { revision, entries, hash: hash('sha256', entries.join()).slice(0, 32), byName: byNames(models) }
}

function byNames(models: readonly EmbeddingsModel[]): Map<string, EmbeddingsModel> {
  const slugs = models.toReversed().map((model) => [model.canonical_slug, model] as const)
  return new Map([...slugs, ...models.map((model) => [model.id, model] as const)])
}

async function readEntries(store: Store): Promise<string[]> {
  const rows = await store.db.selectFrom('embeddings_models').select('entry').orderBy('position').execute()
  return rows.map(({ entry }) => entry)
}

const ROWS_PER_STATEMENT = 1000

async function insertModels(transaction: Transaction<Tables>, models: readonly EmbeddingsModel[]): Promise<void> {
  const rows = models.toSorted(inListOrder).map((model, position) => ({
    position,
    id: model.id,
    entry: JSON.stringify(model),
  }))
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const some = rows.slice(start, start + ROWS_PER_STATEMENT)
    await transaction.insertInto('embeddings_models').values(some).execute()
  }
}
