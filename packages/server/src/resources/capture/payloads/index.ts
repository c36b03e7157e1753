import { LIMITS, requestSteps } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { WorkCounter } from '../../../domain/work-budget.ts'
import { filterText, searchItems, type PayloadFilter, type Searched, type SearchItem } from '../../../tasks/search.ts'
import { readingWorkOf } from '../../../tasks/read-stored.ts'
import { batchesOf } from '../../batches.ts'
import { listDocuments } from './queries.ts'

export { findPayload, listExplained, findReceived, listDocuments, listPayloads, type PayloadRow } from './queries.ts'
export type { PayloadFilter, Searched } from '../../../tasks/search.ts'

/** Whether the filter needs the payloads at all. */
export const readsPayloads = (filter: PayloadFilter): boolean =>
  filter.conditions.length > 0 || filter.text !== null || readsRequests(filter) || readsResponses(filter)

/** Whether the filter needs the headers and query strings of the requests. */
const readsRequests = ({ conditions, textIn, headerConditions = [], queryConditions = [] }: PayloadFilter): boolean =>
  textIn?.includes('headers') === true ||
  headerConditions.length > 0 ||
  queryConditions.length > 0 ||
  conditions.some(({ path }) => requestSteps(path) !== undefined)

/** Whether the filter needs the responses to deliveries. */
export const readsResponses = ({ textIn, responseConditions }: PayloadFilter): boolean =>
  textIn?.includes('response') === true || (responseConditions !== undefined && responseConditions.length > 0)

/** The texts of these records that a filter needs, by their ids. */
export async function listSearched(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>,
  { recordIds, filter }: { readonly recordIds: readonly string[]; readonly filter: PayloadFilter },
): Promise<ReadonlyMap<string, Searched>> {
  const { workspaceId, projectId } = ctx
  const rows = await listDocuments(ctx.db, { workspaceId, projectId, recordIds, request: readsRequests(filter) })
  return new Map(
    rows.map(({ id, data, headers, query, path, is_sent: isSent }) => [
      id,
      { payload: data, headers: headers ?? undefined, query, sent: isSent ? { query, path } : undefined },
    ]),
  )
}

type LookedThrough<Row> = {
  /** The number of rows looked at before the work was used up, at least one. */
  readonly looked: number
  readonly found: readonly Row[]
  /** The number of bodies that could not be read as a payload. */
  readonly unreadable: number
}

export type LookingThrough<Row> = {
  /** Reads what the search looks at, for a batch of rows. */
  readonly read: (rows: readonly Row[]) => Promise<readonly SearchItem[]> | readonly SearchItem[]
  /** The approximate size of a row. */
  readonly bytesOf: (row: Row) => number
  readonly filter: PayloadFilter
  readonly work: WorkCounter
}

/** Finds the rows that match. Batch by batch, so that few payloads are in memory, and others get their turn. */
export async function lookThrough<Row>(
  { heavy, workspaceId }: Pick<Ctx, 'heavy' | 'workspaceId'>,
  ...[rows, { read, bytesOf, filter, work }]: [rows: readonly Row[], how: LookingThrough<Row>]
): Promise<LookedThrough<Row>> {
  const found: Row[] = []
  const text = filterText(filter)
  let [looked, unreadable] = [0, 0]
  for (const batch of batchesOf(rows, bytesOf)) {
    if (looked > 0 && work.usedUp) break
    // oxlint-disable-next-line no-await-in-loop -- the work so far decides whether there is more
    const items = await read(batch)
    if (!readsPayloads(filter)) {
      looked += batch.length
      found.push(...batch.filter((_row, at) => items[at] !== undefined))
      continue
    }
    const input = { filter: text, items, workLeft: work.left }
    // oxlint-disable-next-line no-await-in-loop -- as above
    const done = await heavy.run(searchItems, { workspaceId, input, work: sizeOf(items) * testsOf(filter) })
    work.spend(done.work)
    looked += done.looked
    unreadable += done.unreadable
    found.push(...done.found.flatMap((at) => batch[at] ?? []))
    if (done.looked < batch.length) break
  }
  return { looked, found, unreadable }
}

/** How often a search can read a payload. */
const testsOf = ({
  conditions,
  headerConditions = [],
  queryConditions = [],
  responseConditions = [],
}: PayloadFilter): number =>
  1 + conditions.length + headerConditions.length + queryConditions.length + responseConditions.length

function sizeOf(items: readonly SearchItem[]): number {
  let chars = 0
  for (const item of items) {
    if (item === undefined) continue
    if ('body' in item) chars += readingWorkOf(item)
    else {
      chars += item.payload.length + (item.headers?.length ?? 0) + (item.query?.length ?? 0)
      for (const { response_body } of item.responses ?? []) chars += response_body?.length ?? 0
    }
  }
  return chars
}

/** The first rows whose payloads fit into memory together; at least one. */
export function withinBytes<Row extends { readonly bytes: number }>(rows: readonly Row[]): readonly Row[] {
  let bytes = 0
  const end = rows.findIndex((row) => {
    bytes += row.bytes
    return bytes > LIMITS.searchPayloadBytesMax
  })
  return end < 0 ? rows : rows.slice(0, Math.max(1, end))
}
