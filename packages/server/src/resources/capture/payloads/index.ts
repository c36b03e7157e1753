import { LIMITS, type Conditions } from '@postroad/contract'
import { finish } from '../../../domain/in-turns.ts'
import { compileConditions } from '../../../domain/routing/condition.ts'
import { parseJson } from '../../../domain/json/json-text.ts'
import type { PacedWork } from '../../../platform/paced-work.ts'
import { compileSearch, unescaped } from '../../../domain/text-search.ts'

export { findPayload, listPayloads, type PayloadRow } from './queries.ts'

/** Work for each character of a payload. */
const LOOKED_THROUGH_WORK = 4
const READ_WORK = 8

/** The conditions of a search on payloads; `text` occurs somewhere in the payload, in upper or lower case. */
export type PayloadFilter = { readonly conditions: Conditions; readonly text: string | null }

/** Whether the filter needs the payloads at all. */
export const readsPayloads = ({ conditions, text }: PayloadFilter): boolean => conditions.length > 0 || text !== null

/** Tests the text of a payload. Conditions compare as those of rules do. */
function payloadTest({ conditions, text }: PayloadFilter): (payload: string, work: PacedWork) => Promise<boolean> {
  const compiled = compileConditions(conditions, 'text')
  const search = text === null ? undefined : compileSearch(text.toLowerCase())
  const workPerChar = (search === undefined ? 0 : LOOKED_THROUGH_WORK) + (conditions.length === 0 ? 0 : READ_WORK)
  return async (payload, work) => {
    await work.spend(payload.length * workPerChar)
    if (search !== undefined && !search(payload.toLowerCase())) {
      // JSON may write any character as an escape, and a person searches for the character.
      if (!payload.includes('\\')) return false
      await work.spend(payload.length * LOOKED_THROUGH_WORK)
      if (!search(unescaped(payload).toLowerCase())) return false
    }
    if (conditions.length === 0) return true
    const parsed = parseJson(payload)
    return parsed.ok && (await finish(compiled.firstFailure(parsed.value, work.spend))) === undefined
  }
}

/** The number of rows looked at before the work budget was used up, at least one, and those of them whose payload matches. */
export async function lookThrough<Row>(
  rows: readonly Row[],
  {
    payloadOf,
    filter,
    work,
  }: {
    payloadOf: (row: Row) => string | undefined | Promise<string | undefined>
    filter: PayloadFilter
    work: PacedWork
  },
): Promise<{ readonly looked: number; readonly found: readonly Row[] }> {
  const meets = payloadTest(filter)
  const found: Row[] = []
  let looked = 0
  for (const row of rows) {
    if (looked > 0 && work.usedUp) break
    looked += 1
    const read = payloadOf(row)
    // oxlint-disable-next-line no-await-in-loop -- the work so far decides whether there is more
    const payload = read instanceof Promise ? await read : read
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (payload !== undefined && (await meets(payload, work))) found.push(row)
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
