import { createHash } from 'node:crypto'

/** A resource before and after a change, in the form of responses. Null: it did not exist, or no longer exists. */
export type Change = { readonly before: object | null; readonly after: object | null }

type Members = Readonly<Record<string, unknown>>

/** Members that change with every change, members that are a credential, and the payload that a cron trigger makes. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'created_at',
  'updated_at',
  'data',
  'webhook_slug',
  'public_path',
  'public_url',
  'previous_public_url',
])
/** A longer value is replaced by its length and its hash, because the log retains it for years. */
const CHARS_MAX = 4_000
const FINGERPRINT_CHARS = 12

/**
 * The part of an audit row that shows a change: all members of a created or deleted resource, and only the differing
 * members of a changed one.
 */
export function shownChange({ before, after }: Change): Readonly<Record<'before' | 'after', Members | null>> {
  const [was, is] = [membersOf(before), membersOf(after)]
  if (was === null || is === null) return { before: shown(was), after: shown(is) }
  const differing = new Set(
    [...Object.keys(was), ...Object.keys(is)].filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name])),
  )
  const only = (members: Members): Members =>
    Object.fromEntries(Object.entries(members).filter(([name]) => differing.has(name)))
  return { before: shown(only(was)), after: shown(only(is)) }
}

function membersOf(value: object | null): Members | null {
  return value === null ? null : Object.fromEntries(Object.entries(value).filter(([name]) => !LEFT_OUT.has(name)))
}

function shown(members: Members | null): Members | null {
  if (members === null) return null
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, shortened(redacted(value))]))
}

/** A path or a query of a URL can be a credential. Its fingerprint shows whether it changed. */
function redacted(value: unknown): unknown {
  if (typeof value === 'string') return redactedUrl(value)
  if (Array.isArray(value)) return value.map(redacted)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redacted(member)]))
  return value
}

function redactedUrl(text: string): string {
  const [origin] = /^[a-z][a-z0-9+.-]{1,20}:\/\//i.exec(text) ?? []
  if (origin === undefined) return text
  const url = URL.parse(text)
  const place = url === null ? origin : `${url.protocol}//${url.host}`
  return text === place || text === `${place}/` ? text : `${place}/… (${fingerprint(text)})`
}

function shortened(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= CHARS_MAX ? value : { characters: text.length, sha256: fingerprint(text) }
}

const fingerprint = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, FINGERPRINT_CHARS)
