import { LIMITS, type RouteAnswer, type RouteRequest, type Routes } from '@postroad/contract'
import { draftOf, sentOf, type ConditionDraft } from '../../../parts/condition-draft.ts'
import { headersIn, headersText, withoutValues } from '../../../parts/headers-text.ts'
import { listIn } from '../../../parts/text-list.ts'

export type SourceBody = RouteRequest<Routes['sources']['create']>
type Source = RouteAnswer<Routes['sources']['list']>['sources'][number]
type Settings = SourceBody['settings']
export type SourceKind = Settings['kind']

/** A source in a form. The members of all kinds are here; each kind sends its own. */
export type SourceDraft = {
  readonly kind: SourceKind
  readonly name: string
  readonly dataset: string
  readonly conditions: readonly ConditionDraft[]
  /** The field of the payload with the customer; empty: no event names one. */
  readonly customer: string
  readonly pollSeconds: string
  /** The connection string; empty: the stored one. */
  readonly connection: string
  readonly tlsMode: 'verify' | 'off'
  readonly ca: string
  readonly query: string
  readonly cursorColumn: string
  readonly keyColumn: string
  readonly start: 'now' | 'beginning' | 'value'
  readonly startValue: string
  readonly batchLimit: string
  readonly lagSeconds: string
  readonly url: string
  readonly headers: string
  readonly itemsPath: string
  readonly keyPath: string
  /** Whether the next request has a cursor. */
  readonly hasCursor: boolean
  readonly cursorPath: string
  readonly cursorFrom: 'response' | 'last_item'
  readonly cursorIn: 'query' | 'header'
  readonly cursorAs: string
  readonly cursorStart: string
  readonly events: string
  /** Names of tables, in lines or separated by commas. */
  readonly tables: string
  readonly publication: string
  readonly slot: string
  readonly operations: readonly Operation[]
  readonly snapshot: boolean
}

export const OPERATIONS = ['insert', 'update', 'delete', 'truncate'] as const
export type Operation = (typeof OPERATIONS)[number]

export function newDraft(kind: SourceKind): SourceDraft {
  return {
    kind,
    name: '',
    dataset: '',
    conditions: [],
    customer: '',
    pollSeconds: String(LIMITS.sourcePollSecondsDefault),
    connection: '',
    tlsMode: 'verify',
    ca: '',
    query: '',
    cursorColumn: '',
    keyColumn: '',
    start: 'now',
    startValue: '',
    batchLimit: String(LIMITS.sourceBatchRowsDefault),
    lagSeconds: String(LIMITS.sourceLagSecondsDefault),
    url: '',
    headers: '',
    itemsPath: '',
    keyPath: '',
    hasCursor: false,
    cursorPath: '',
    cursorFrom: 'response',
    cursorIn: 'query',
    cursorAs: '',
    cursorStart: '',
    events: '',
    tables: '',
    publication: '',
    slot: '',
    operations: ['insert', 'update', 'delete'],
    snapshot: false,
  }
}

export function draftOfSource({ name, dataset, conditions, customer, settings }: Source): SourceDraft {
  return {
    ...newDraft(settings.kind),
    ...(settings.kind === 'http_poll' || settings.kind === 'sse' ? ofApi(settings) : ofDatabase(settings)),
    name,
    dataset,
    conditions: conditions.map(draftOf),
    customer: customer?.path ?? '',
  }
}

type Shown = Source['settings']

function ofApi(settings: Extract<Shown, { kind: 'http_poll' | 'sse' }>): Partial<SourceDraft> {
  const address = { url: settings.url, headers: headersText(settings.headers) }
  if (settings.kind === 'sse') return { ...address, events: settings.events?.join(', ') ?? '' }
  const { cursor } = settings
  return {
    ...address,
    pollSeconds: String(settings.poll_seconds),
    itemsPath: settings.items_path ?? '',
    keyPath: settings.key_path ?? '',
    ...(cursor === null
      ? {}
      : {
          hasCursor: true,
          cursorPath: cursor.path,
          cursorFrom: cursor.from,
          cursorIn: cursor.send_in,
          cursorAs: cursor.send_as,
          cursorStart: cursor.start ?? '',
        }),
  }
}

function ofDatabase(settings: Exclude<Shown, { kind: 'http_poll' | 'sse' }>): Partial<SourceDraft> {
  const encryption = { tlsMode: settings.tls.mode, ca: settings.tls.ca ?? '' }
  if (settings.kind === 'postgres_replication')
    return {
      ...encryption,
      tables: settings.tables?.join('\n') ?? '',
      publication: settings.publication ?? '',
      slot: settings.slot ?? '',
      operations: settings.operations,
      snapshot: settings.snapshot,
    }
  const { start } = settings
  return {
    ...encryption,
    pollSeconds: String(settings.poll_seconds),
    query: settings.query,
    cursorColumn: settings.cursor_column,
    keyColumn: settings.key_column ?? '',
    start: typeof start === 'string' ? start : 'value',
    startValue: typeof start === 'string' ? '' : startText(start.value),
    batchLimit: String(settings.batch_limit),
    lagSeconds: String(settings.lag_seconds),
  }
}

/** The settings of a draft, or the sentence about their fault. The server checks the rest. */
export function settingsOf(draft: SourceDraft): { readonly settings: Settings } | { readonly problem: string } {
  if (draft.kind === 'postgres' || draft.kind === 'mysql') return { settings: databaseSettings(draft, draft.kind) }
  if (draft.kind === 'postgres_replication') return replicationSettings(draft)
  const headers = headersIn(draft.headers)
  if (typeof headers === 'string') return { problem: headers }
  const url = draft.url.trim()
  if (draft.kind === 'sse') {
    const events = listIn(draft.events)
    return { settings: { kind: 'sse', url, headers, events: events.length === 0 ? null : events } }
  }
  return {
    settings: {
      kind: 'http_poll',
      url,
      headers,
      poll_seconds: Number(draft.pollSeconds),
      items_path: orNull(draft.itemsPath),
      key_path: orNull(draft.keyPath),
      cursor: draft.hasCursor
        ? {
            path: draft.cursorPath.trim(),
            from: draft.cursorFrom,
            send_in: draft.cursorIn,
            send_as: draft.cursorAs.trim(),
            start: orNull(draft.cursorStart),
          }
        : null,
    },
  }
}

// oxlint-disable-next-line max-params -- the draft and its kind
function databaseSettings(draft: SourceDraft, kind: 'postgres' | 'mysql'): Settings {
  return {
    kind,
    ...connectionOf(draft),
    query: draft.query.trim(),
    cursor_column: draft.cursorColumn.trim(),
    key_column: orNull(draft.keyColumn),
    start: draft.start === 'value' ? { value: startIn(draft.startValue.trim()) } : draft.start,
    poll_seconds: Number(draft.pollSeconds),
    batch_limit: Number(draft.batchLimit),
    lag_seconds: Number(draft.lagSeconds),
  }
}

/** A number where the text is exactly that number; text in quotes is text. Another value or type would start the source over. */
function startIn(text: string): string | number {
  const number = Number(text)
  if (Number.isFinite(number) && String(number) === text) return number
  return /^".*"$/s.test(text) ? text.slice(1, -1) : text
}

function startText(value: string | number): string {
  return startIn(String(value).trim()) === value ? String(value) : `"${value}"`
}

function replicationSettings(draft: SourceDraft): { readonly settings: Settings } | { readonly problem: string } {
  const tables = listIn(draft.tables)
  const publication = orNull(draft.publication)
  if (tables.length === 0 && publication === null) return { problem: 'Enter tables or an existing publication.' }
  if (tables.length > 0 && publication !== null) return { problem: 'Enter either tables or a publication, not both.' }
  if (draft.operations.length === 0) return { problem: 'Select at least one kind of change.' }
  return {
    settings: {
      kind: 'postgres_replication',
      ...connectionOf(draft),
      tables: tables.length === 0 ? null : tables,
      publication,
      slot: orNull(draft.slot),
      operations: [...draft.operations],
      snapshot: draft.snapshot,
    },
  }
}

/** Without a connection string, the server uses the stored one. */
function connectionOf({ connection, tlsMode, ca }: SourceDraft) {
  return {
    ...(connection.trim() === '' ? {} : { connection: connection.trim() }),
    tls: { mode: tlsMode, ca: orNull(ca) },
  }
}

/** The setting of the field with the customer. */
export function customerAt(path: string): SourceBody['customer'] {
  return path.trim() === '' ? null : { path: path.trim() }
}

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())

export function bodyOf(draft: SourceDraft): { readonly body: SourceBody } | { readonly problem: string } {
  const read = settingsOf(draft)
  if ('problem' in read) return read
  if (draft.name.trim() === '') return { problem: 'Enter a name.' }
  if (draft.dataset.trim() === '') return { problem: 'Enter the dataset that stores the events.' }
  return {
    body: {
      name: draft.name.trim(),
      dataset: draft.dataset.trim(),
      conditions: draft.conditions.map(sentOf),
      customer: customerAt(draft.customer),
      settings: read.settings,
    },
  }
}

/** The body for a command: it goes into the history of a shell, so it contains no secret. */
export function secretless(body: SourceBody): SourceBody {
  const { settings } = body
  if (settings.kind !== 'http_poll' && settings.kind !== 'sse') {
    const scheme = settings.kind === 'mysql' ? 'mysql' : 'postgres'
    return { ...body, settings: { ...settings, connection: `${scheme}://USER:PASSWORD@HOST/DATABASE` } }
  }
  return { ...body, settings: { ...settings, headers: withoutValues(settings.headers ?? {}) } }
}
