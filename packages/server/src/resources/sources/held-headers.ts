import type { CustomHeaders, ShownHeaders } from '@postroad/contract'
import { refuse } from '../../domain/refusal.ts'
import { validateHeader } from '../../platform/outbound-http.ts'

/** Headers of a source or a trigger. Their values are stored sealed, and no response shows one. */
export type HeldHeaders = Readonly<Record<string, string>>

/** The headers after a change: those that were sent, and for a header without a value the stored value with the same name. */
export function changedHeaders(sent: CustomHeaders, held: HeldHeaders): HeldHeaders {
  const values = new Map(Object.entries(held).map(([name, value]) => [name.toLowerCase(), value]))
  const changed = Object.entries(sent).map(([name, value]): [string, string] => {
    const text = typeof value === 'string' ? value : values.get(name.toLowerCase())
    if (text === undefined) throw refuse('invalid_request', `headers: there is no stored value for ${name}. Send one.`)
    const why = validateHeader(name, text)
    if (why !== undefined) throw refuse('invalid_request', `headers: ${why}`)
    return [name, text]
  })
  return Object.fromEntries(changed)
}

export function shownHeaders(headers: HeldHeaders): ShownHeaders {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, { has_value: true }]))
}

/** Whether the request contains every value, so no stored value goes to another place. */
export const bringsEveryValue = (sent: CustomHeaders | undefined, held: HeldHeaders): boolean =>
  sent === undefined ? Object.keys(held).length === 0 : Object.values(sent).every((value) => typeof value === 'string')
