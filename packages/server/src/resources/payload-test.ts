import type { Conditions } from '@postroad/contract'
import { compileConditions } from '../domain/condition.ts'
import { parseJson } from '../domain/json-text.ts'

/** What a search asks of payloads, as text. Conditions compare as those of rules do. */
export function payloadTest({ conditions, text }: { readonly conditions: Conditions; readonly text: string | null }): (payload: string) => boolean {
  const compiled = compileConditions(conditions, 'text')
  const needle = text?.toLowerCase()
  return (payload) => {
    if (needle !== undefined && !payload.toLowerCase().includes(needle)) return false
    if (conditions.length === 0) return true
    const parsed = parseJson(payload)
    return parsed.ok && compiled.firstFailure(parsed.value) === undefined
  }
}
