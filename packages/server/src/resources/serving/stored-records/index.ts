import type { Deps } from '../../../context.ts'
import { emptySchema } from '../../../domain/capture/dataset-schema.ts'
import { schemaOf } from '../../capture/dataset-schemas/index.ts'
import { findDatasetNamed } from '../../capture/datasets/index.ts'
import { findPayload } from '../../capture/payloads/index.ts'
import type { StoredRecord } from './page.ts'
import { tableColumns, type Column } from './table.ts'

export { readNewest, readOldest, recordJson, type StoredPage, type StoredRecord } from './page.ts'
export { csvFile, parquetTable, type Column } from './table.ts'
export { listReadableDatasets } from './queries.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

/** Whether the project has a dataset of this name. */
export async function hasDataset({ database }: Deps, at: At & { name: string }): Promise<boolean> {
  return (await findDatasetNamed(database.forWorkspace(at.workspaceId), at)) !== undefined
}

/** One record of a dataset; undefined: it has none with this id. */
export async function findStored(
  { database }: Deps,
  at: At & { id: string; dataset: string },
): Promise<StoredRecord | undefined> {
  const row = await findPayload(database.forWorkspace(at.workspaceId), at)
  return row?.dataset === at.dataset ? row : undefined
}

/** The columns of a table of a dataset: those that were asked for, otherwise the fields that its schema has at the moment. */
export async function columnsFor(
  { database, uuid }: Pick<Deps, 'database' | 'uuid'>,
  at: At & { dataset: string; asked: readonly string[] | undefined },
): Promise<readonly Column[]> {
  const db = database.forWorkspace(at.workspaceId)
  const dataset = await findDatasetNamed(db, { ...at, name: at.dataset })
  const { schema } = dataset === undefined ? { schema: emptySchema() } : await schemaOf({ db, uuid, ...at }, dataset)
  return tableColumns(schema, at.asked)
}
