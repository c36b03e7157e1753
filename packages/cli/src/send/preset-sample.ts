import type { SourcePreset } from '@postroad/contract'
import { splitPath } from '@postroad/contract/dot-path'

export type PresetSample = {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
  /** Whether the event has a name: some providers name their events where an endpoint cannot find the name. */
  readonly isNamed: boolean
}

/** The smallest event of a provider, by its preset: its name and an id, in their header or at their path. */
export function sampleOf(
  { settings: { event_title: title, idempotency, verification } }: SourcePreset,
  { event, id }: { readonly event: string; readonly id: string },
): PresetSample {
  const members: Record<string, unknown> = {}
  const headers: Record<string, string> = {}
  if (idempotency !== null) {
    if ('header' in idempotency) headers[idempotency.header] = id
    else put(members, splitPath(idempotency.path), id)
  }
  if (title !== null) {
    if ('header' in title) headers[title.header] = event
    else put(members, splitPath(title.path), event)
  }
  const isForm = 'signed' in verification && verification.signed.includes('{form}')
  const text = isForm ? formText(members) : JSON.stringify(members)
  headers['Content-Type'] = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
  return { body: Buffer.from(text), headers, isNamed: title !== null }
}

const formText = (members: Readonly<Record<string, unknown>>): string =>
  Object.entries(members)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&')

/** Puts a value at a path; a step that is a number makes a list of one item. */
function put(members: Record<string, unknown>, path: readonly string[], value: string): void {
  const [step = '', ...rest] = path
  if (rest.length === 0) {
    members[step] = value
    return
  }
  const inner: Record<string, unknown> = {}
  put(inner, rest, value)
  const known = members[step]
  const merged = { ...(typeof known === 'object' ? known : {}), ...inner }
  members[step] = /^\d+$/.test(rest[0] ?? '') ? Object.values(merged) : merged
}
