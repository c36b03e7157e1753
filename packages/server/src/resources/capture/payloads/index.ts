import { LIMITS, type Conditions } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { responseDocument, textOfResponse, type StoredResponse } from '../../../domain/delivery/searched-response.ts'
import { finish } from '../../../domain/in-turns.ts'
import { compileConditions } from '../../../domain/routing/condition.ts'
import { textOfHeaders } from '../../../domain/capture/search-index/terms.ts'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import type { PacedWork } from '../../../platform/paced-work.ts'
import { compileSearch, folded, unescaped } from '../../../domain/text-search.ts'

import { listDocuments } from './queries.ts'

export { findPayload, listDocuments, listPayloads, type PayloadRow } from './queries.ts'

/** Work for each character of a payload. */
const LOOKED_THROUGH_WORK = 4
const READ_WORK = 8

/** Where a search looks for text. */
export type TextPlace = 'payload' | 'headers' | 'response'

/** The conditions of a search on received events; `text` occurs somewhere in these places, in upper or lower case. */
export type PayloadFilter = {
  readonly conditions: Conditions
  readonly text: string | null
  /** Conditions on the headers of the request, whose names are in lower case; absent: none. */
  readonly headerConditions?: Conditions
  /** Absent: only the payload. */
  readonly textIn?: readonly TextPlace[]
  /** Conditions that one response to a delivery must match; absent: none. */
  readonly responseConditions?: Conditions
}

/** A payload, and the headers of its request as JSON if the filter needs them. */
export type Searched = {
  readonly payload: string
  readonly headers?: string | undefined
  /** The responses to a delivery, if the filter needs them. */
  readonly responses?: readonly StoredResponse[] | undefined
}

/** Whether the filter needs the payloads at all. */
export const readsPayloads = (filter: PayloadFilter): boolean =>
  filter.conditions.length > 0 || filter.text !== null || readsHeaders(filter) || readsResponses(filter)

/** Whether the filter needs the headers of the requests. */
export const readsHeaders = ({ textIn, headerConditions }: PayloadFilter): boolean =>
  textIn?.includes('headers') === true || (headerConditions !== undefined && headerConditions.length > 0)

/** Whether the filter needs the responses to deliveries. */
export const readsResponses = ({ textIn, responseConditions }: PayloadFilter): boolean =>
  textIn?.includes('response') === true || (responseConditions !== undefined && responseConditions.length > 0)

/** The texts of these records that a filter needs, by their ids. */
export async function listSearched(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>,
  { recordIds, filter }: { readonly recordIds: readonly string[]; readonly filter: PayloadFilter },
): Promise<ReadonlyMap<string, Searched>> {
  const { workspaceId, projectId } = ctx
  const rows = await listDocuments(ctx.db, { workspaceId, projectId, recordIds, headers: readsHeaders(filter) })
  return new Map(rows.map(({ id, data, headers }) => [id, { payload: data, headers: headers ?? undefined }]))
}

type Test = (searched: Searched, work: PacedWork) => Promise<boolean>

/** The test of a received event. Conditions compare like those of rules. */
function testOf(filter: PayloadFilter): Test {
  const { text, textIn, conditions, headerConditions = [], responseConditions = [] } = filter
  const tests = [
    ...(text === null ? [] : [textTest(text, textIn ?? ['payload'])]),
    ...(conditions.length === 0 ? [] : [conditionTest(conditions, ({ payload }) => payload)]),
    ...(headerConditions.length === 0 ? [] : [conditionTest(headerConditions, ({ headers }) => headers ?? '{}')]),
    ...(responseConditions.length === 0 ? [] : [responseTest(responseConditions)]),
  ]
  return async (searched, work) => {
    for (const test of tests) {
      // oxlint-disable-next-line no-await-in-loop -- the first test that fails ends it
      if (!(await test(searched, work))) return false
    }
    return true
  }
}

function textTest(text: string, places: readonly TextPlace[]): Test {
  const search = compileSearch(folded(text))
  const isIn = async (searched: string, work: PacedWork): Promise<boolean> => {
    await work.spend(searched.length * LOOKED_THROUGH_WORK)
    return search(folded(searched))
  }
  return async ({ payload, headers, responses = [] }, work) => {
    if (places.includes('response') && (await anyOf(responses, (one) => isIn(textOfResponse(one), work)))) return true
    if (places.includes('headers') && headers !== undefined && (await isIn(textOfHeaders(headersOf(headers)), work)))
      return true
    if (!places.includes('payload')) return false
    if (await isIn(payload, work)) return true
    // JSON can write any character as an escape, and a person searches for the character.
    return payload.includes('\\') && isIn(unescaped(payload), work)
  }
}

function conditionTest(conditions: Conditions, textOf: (searched: Searched) => string): Test {
  const compiled = compileConditions(conditions, 'text')
  return async (searched, work) => {
    const text = textOf(searched)
    await work.spend(text.length * READ_WORK)
    const parsed = parseStoredJson(text)
    return parsed.ok && (await finish(compiled.firstFailure(parsed.value, work.spend))) === undefined
  }
}

/** One response must match all conditions. */
function responseTest(conditions: Conditions): Test {
  const compiled = compileConditions(conditions, 'text')
  return async ({ responses = [] }, work) =>
    anyOf(responses, async (one) => {
      await work.spend((one.response_body?.length ?? 0) * READ_WORK)
      return (await finish(compiled.firstFailure(responseDocument(one), work.spend))) === undefined
    })
}

async function anyOf<Item>(items: readonly Item[], test: (item: Item) => Promise<boolean>): Promise<boolean> {
  for (const item of items) {
    // oxlint-disable-next-line no-await-in-loop -- the first item that matches ends it
    if (await test(item)) return true
  }
  return false
}

/** The stored headers of a request, by their names in lower case. */
export function headersOf(text: string): Readonly<Record<string, unknown>> {
  const parsed = parseStoredJson(text)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server stores headers as a JSON object
  return parsed.ok ? (parsed.value as Record<string, unknown>) : {}
}

/** The number of rows looked at before the work budget was used up, at least one, and those of them that match. */
export async function lookThrough<Row>(
  rows: readonly Row[],
  {
    searchedOf,
    filter,
    work,
  }: {
    searchedOf: (row: Row) => Searched | undefined | Promise<Searched | undefined>
    filter: PayloadFilter
    work: PacedWork
  },
): Promise<{ readonly looked: number; readonly found: readonly Row[] }> {
  const meets = testOf(filter)
  const found: Row[] = []
  let looked = 0
  for (const row of rows) {
    if (looked > 0 && work.usedUp) break
    looked += 1
    const read = searchedOf(row)
    // oxlint-disable-next-line no-await-in-loop -- the work so far decides whether there is more
    const searched = read instanceof Promise ? await read : read
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (searched !== undefined && (await meets(searched, work))) found.push(row)
  }
  return { looked, found }
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
