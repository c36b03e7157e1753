import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { findDataset } from '../../capture/datasets/index.ts'
import { idRange } from '../../id-range.ts'
import type { Room } from '../../verbs.ts'
import {
  columnsFor,
  csvFile,
  parquetTable,
  recordJson,
  type NamedDataset,
  type StoredRecord,
} from '../stored-records/index.ts'
import { listStoredAfter } from './queries.ts'

/** One page in memory: at most this many records, and this many bytes and one record more. */
const PAGE = { limit: 1_000, bytesMax: 4_194_304 }

export const datasetExports: Room<'datasetExports'> = {
  ndjson: async (ctx, { id, ...range }) =>
    linesOf(pagesOf(ctx, { dataset: (await datasetOf(ctx, id)).name, ...range })),

  csv: async (ctx, { id, columns: asked, ...range }) => {
    const dataset = await datasetOf(ctx, id)
    return csvFile(await writing(ctx, { dataset, asked, ...range }))
  },

  parquet: async (ctx, { id, columns: asked, ...range }) => {
    const dataset = await datasetOf(ctx, id)
    return parquetTable(await writing(ctx, { dataset, asked, ...range }))
  },
}

type Asked = Omit<Range, 'dataset'> & {
  readonly dataset: NamedDataset
  readonly asked: readonly string[] | undefined
}

async function writing(ctx: Ctx, { dataset, asked, ...range }: Asked) {
  const { heavy, workspaceId } = ctx
  const columns = await columnsFor(ctx, { ...ctx, dataset, asked })
  return { heavy, workspaceId, columns, pages: pagesOf(ctx, { dataset: dataset.name, ...range }) }
}

async function datasetOf(ctx: Ctx, id: string): Promise<NamedDataset> {
  const dataset = await findDataset(ctx.db, { ...ctx, id })
  if (dataset === undefined) throw refuse('not_found')
  return dataset
}

const FIRST = '00000000-0000-0000-0000-000000000000'
type Range = { readonly dataset: string; readonly from?: Date | undefined; readonly to?: Date | undefined }

async function* pagesOf(ctx: Ctx, { dataset, ...range }: Range): AsyncIterable<readonly StoredRecord[]> {
  const { fromId, toId } = idRange(range)
  let after = FIRST
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each page starts where the previous one ended
    const page = await listStoredAfter(ctx.database, { ...ctx, dataset, fromId, toId, after, ...PAGE })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    after = last.id
  }
}

async function* linesOf(pages: AsyncIterable<readonly StoredRecord[]>): AsyncIterable<string> {
  for await (const page of pages) yield page.map((record) => `${recordJson(record)}\n`).join('')
}
