import { isTree } from '../../../ui/json-lines.ts'
import { leafText } from '../../../ui/raw-number.ts'

const NAMES = ['type', 'event', 'event_type', 'eventType', 'topic', 'action', 'name', 'kind'] as const

/** What a payload calls itself; else the dataset that it is in. */
export function titleOf(data: unknown, dataset: string): string {
  const named = isObject(data)
    ? NAMES.map((name) => data[name]).find((value) => typeof value === 'string' && value !== '' && value.length <= 80)
    : undefined
  return typeof named === 'string' ? named : dataset
}

const FIELDS_MAX = 5
const WRAPPERS = new Set(['data', 'object', 'payload', 'body', 'resource', 'attributes'])

/** The few fields that tell one event from another: short scalars, also of the objects in it, ids last; not the one that the title is. */
export function previewOf(data: unknown): readonly (readonly [string, string])[] {
  if (!isObject(data)) return Array.isArray(data) ? [['items', String(data.length)]] : [['', leafText(data)]]
  const title = titleOf(data, '')
  const all = fieldsOf(data, { depth: 0, within: '' }).filter(
    ([key, text]) => text !== title || !NAMES.some((name) => name === key),
  )
  return all.toSorted((a, b) => dullness(a[0]) - dullness(b[0])).slice(0, FIELDS_MAX)
}

const DEPTH_MAX = 3

/** A wrapper says nothing by its name; any other object is named before what is in it, and looked into once. */
function fieldsOf(
  data: Readonly<Record<string, unknown>>,
  at: { readonly depth: number; readonly within: string },
): readonly (readonly [string, string])[] {
  return Object.entries(data).flatMap(([name, value]): readonly (readonly [string, string])[] => {
    const key = `${at.within}${name}`
    if (Array.isArray(value)) return [[key, String(value.length)]]
    if (isObject(value)) {
      if (WRAPPERS.has(name) && at.depth < DEPTH_MAX) return fieldsOf(value, { depth: at.depth + 1, within: at.within })
      return at.within === '' ? fieldsOf(value, { depth: DEPTH_MAX, within: `${key}.` }) : []
    }
    const text = leafText(value)
    return text.length <= 64 ? [[key, text]] : []
  })
}

function dullness(path: string): number {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const nested = name.length < path.length ? 0.5 : 0
  if (NAMES.some((known) => known === name)) return 3 + nested
  if (/^(?:id|uuid|object|api_version|livemode|created|created_at|updated_at|timestamp|pending_webhooks)$/.test(name))
    return 2 + nested
  return (/_id$|Id$|^url$/.test(name) ? 1 : 0) + nested
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isTree(value) && !Array.isArray(value)
}
