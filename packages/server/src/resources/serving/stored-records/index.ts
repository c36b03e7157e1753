import type { Deps } from '../../../context.ts'
import { schemaOf } from '../../capture/dataset-schemas/index.ts'
import { findDatasetNamed } from '../../capture/datasets/index.ts'
import { findPayload } from '../../capture/payloads/index.ts'
import { tableColumns, type Column, type StoredRecord } from './table.ts'

export { readNewest, readOldest, recordJson, type StoredPage } from './page.ts'
export { csvFile, parquetTable, type Column, type StoredRecord } from './table.ts'
export { listReadableDatasets } from './queries.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type NamedDataset = { readonly id: string; readonly name: string }

/** The dataset of a project by its name; undefined: there is none. */
export function findNamed({ database }: Deps, at: At & { name: string }): Promise<NamedDataset | undefined> {
  return findDatasetNamed(database.forWorkspace(at.workspaceId), at)
}

/** One record of a dataset; undefined: it has none with this id. */
export async function findStored(
  { database }: Deps,
  at: At & { id: string; dataset: string },
): Promise<StoredRecord | undefined> {
  const row = await findPayload(database.forWorkspace(at.workspaceId), at)
  return row?.dataset === at.dataset ? row : undefined
}

/** The columns of a table of a dataset: the requested ones, otherwise the fields that its schema has at the moment. */
export async function columnsFor(
  { database, heavy, uuid }: Pick<Deps, 'database' | 'heavy' | 'uuid'>,
  at: At & { dataset: NamedDataset; asked: readonly string[] | undefined },
): Promise<readonly Column[]> {
  const db = database.forWorkspace(at.workspaceId)
  const { schema } = await schemaOf({ db, heavy, uuid, ...at }, at.dataset)
  return tableColumns(schema, at.asked)
}
