import type { SourcePreset } from '@postroad/contract'
import { splitPath } from '@postroad/contract/dot-path'

export type PresetSample = {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
  /** Whether the event has a name: some providers name their events where an endpoint cannot find the name. */
  readonly isNamed: boolean
}

/** The sample event of a provider, or the smallest one, with its name and an id in their header or at their path. */
export function sampleOf(
  { sample, settings: { event_title: title, idempotency, verification } }: SourcePreset,
  { event, id }: { readonly event: string; readonly id: string },
): PresetSample {
  const members = membersIn(sample)
  const headers: Record<string, string> = {}
  if (idempotency !== null) {
    if ('header' in idempotency) headers[idempotency.header] = id
    else put(members, splitPath(idempotency.path), id)
  }
  if (title !== null) {
    if ('header' in title) headers[title.header] = event
    else put(members, splitPath(title.path), event)
  }
  const isForm = sample?.content_type === FORM || ('signed' in verification && verification.signed.includes('{form}'))
  // A list of events is sent as it is.
  const isList = sample?.body.startsWith('[') === true
  const text = isList ? sample.body : isForm ? formText(members) : JSON.stringify(members)
  headers['Content-Type'] = isForm ? FORM : 'application/json'
  return { body: Buffer.from(text), headers, isNamed: title !== null }
}

const FORM = 'application/x-www-form-urlencoded'

/** Any server of an older version sends no sample. */
function membersIn(sample: SourcePreset['sample'] | undefined): Record<string, unknown> {
  if (sample === null || sample === undefined || sample.body.startsWith('[')) return {}
  return sample.content_type === FORM ? Object.fromEntries(new URLSearchParams(sample.body)) : JSON.parse(sample.body)
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
  const known = members[step]
  const inner: Record<string, unknown> = { ...(typeof known === 'object' ? known : {}) }
  put(inner, rest, value)
  members[step] = /^\d+$/.test(rest[0] ?? '') ? Object.values(inner) : inner
}
