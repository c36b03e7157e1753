import { LIMITS, type Conditions } from '@postroad/contract'
import { compileConditions } from '../../domain/condition.ts'
import { parseJson } from '../../domain/json-text.ts'

export { findPayload, listPayloads, type PayloadRow } from './queries.ts'

/** What a search asks of payloads; `text`: something that stands somewhere in it, in upper or lower case. */
export type PayloadFilter = { readonly conditions: Conditions; readonly text: string | null }

/** Whether payloads have to be read for it at all. */
export const readsPayloads = ({ conditions, text }: PayloadFilter): boolean => conditions.length > 0 || text !== null

/** Whether the text of a payload is what was asked for. Conditions compare as those of rules do. */
export function payloadTest({ conditions, text }: PayloadFilter): (payload: string) => boolean {
  const compiled = compileConditions(conditions, 'text')
  const needle = text?.toLowerCase()
  return (payload) => {
    if (needle !== undefined && !payload.toLowerCase().includes(needle)) return false
    if (conditions.length === 0) return true
    const parsed = parseJson(payload)
    return parsed.ok && compiled.firstFailure(parsed.value) === undefined
  }
}

/** The first ones whose payloads may be read together; at least one. */
export function withinBytes<Row extends { readonly bytes: number }>(rows: readonly Row[]): readonly Row[] {
  let bytes = 0
  const end = rows.findIndex((row) => {
    bytes += row.bytes
    return bytes > LIMITS.searchPayloadBytesMax
  })
  return end < 0 ? rows : rows.slice(0, Math.max(1, end))
}
