import { TITLE_MEMBERS, type EventTitle } from '@postroad/contract'
import { valueAt } from '@postroad/contract/filter'
import { isTree } from '../ui/json-lines.ts'
import { leafText } from '@postroad/contract/raw-number'

/** The known facts about an event and its sender. */
export type Titled = {
  readonly dataset: string
  readonly data: unknown
  readonly header_title?: string | null | undefined
}

const TITLE_CHARS_MAX = 80

/** The title that the sender gave the event, by the setting of its endpoint; otherwise its dataset. */
export function titleOf({ data, dataset, header_title }: Titled, setting: EventTitle | undefined): string {
  const path = setting !== undefined && setting !== null && 'path' in setting ? setting.path : undefined
  const atPath = path === undefined ? undefined : titleText(valueAt(data, path))
  return header_title ?? atPath ?? memberTitle(data) ?? dataset
}

/** The member of a payload in which senders name an event. Never `name`, which is often the name of a person. */
function memberTitle(data: unknown): string | undefined {
  if (!isObject(data)) return undefined
  return TITLE_MEMBERS.map((name) => (typeof data[name] === 'string' ? titleText(data[name]) : undefined)).find(
    (text) => text !== undefined,
  )
}

function titleText(value: unknown): string | undefined {
  if (value === undefined || value === null || isTree(value)) return undefined
  const text = leafText(value).trim()
  return text === '' || text.length > TITLE_CHARS_MAX ? undefined : text
}

const FIELDS_MAX = 5
const WRAPPERS = new Set(['data', 'object', 'payload', 'body', 'resource', 'attributes'])

/** The few fields that distinguish an event: short scalars, also in its objects, ids last, without its title. */
export function previewOf(data: unknown, title = memberTitle(data)): readonly (readonly [string, string])[] {
  if (!isObject(data)) return Array.isArray(data) ? [['items', String(data.length)]] : [['', leafText(data)]]
  const all = fieldsOf(data, { depth: 0, within: '' }).filter(([key, text]) => text !== title || !isTitleMember(key))
  return all.toSorted((a, b) => dullness(a[0]) - dullness(b[0])).slice(0, FIELDS_MAX)
}

const DEPTH_MAX = 3

/** The name of a wrapper is left out. The name of any other object stays before its fields, one level deep. */
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
  if (isTitleMember(name)) return 3 + nested
  if (/^(?:id|uuid|object|api_version|livemode|created|created_at|updated_at|timestamp|pending_webhooks)$/.test(name))
    return 2 + nested
  return (/_id$|Id$|^url$/.test(name) ? 1 : 0) + nested
}

const isTitleMember = (name: string): boolean => TITLE_MEMBERS.some((known) => known === name)

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isTree(value) && !Array.isArray(value)
}
