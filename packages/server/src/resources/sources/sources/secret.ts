import type { SourceSettings } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { readConnection, validateQuery } from '../../../domain/sources/connection.ts'
import type { SourceSecret } from '../../../domain/sources/secret.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { validateHeader } from '../../../platform/outbound-http.ts'
import { bringsEveryValue, changedHeaders } from '../held-headers.ts'
import type { SourceRow, StoredSettings } from './queries.ts'

/** Settings as they are stored: the part that may be shown, and the part that is sealed. */
export type Divided = { readonly settings: StoredSettings; readonly secret: SourceSecret }

/**
 * Divides sent settings. For a secret that was left out, it takes the stored one, if that still goes to the place that
 * it was set for. Refuses settings that can never work.
 */
export function divide(
  ctx: Ctx,
  { sent, held }: { sent: SourceSettings; held: { settings: StoredSettings; secret: SourceSecret } | undefined },
): Divided {
  return sent.kind === 'http_poll' || sent.kind === 'sse'
    ? divideHttp(ctx, { sent, held })
    : divideDatabase(ctx, { sent, held })
}

function divideDatabase(
  ctx: Ctx,
  { sent, held }: { sent: Of<'postgres'> | Of<'mysql'> | Of<'postgres_replication'>; held: Divided | undefined },
): Divided {
  const { connection: given, ...settings } = sent
  const why =
    settings.kind === 'postgres_replication' ? validateReplication(settings, held) : validateQuery(settings.query)
  if (why !== undefined) throw refuse('invalid_request', why)
  const text = given ?? storedConnection(settings, held)
  const connection = readConnection(settings.kind === 'mysql' ? 'mysql' : 'postgres', text)
  if (typeof connection === 'string') throw refuse('invalid_request', connection)
  const { password: _password, ...place } = connection
  const refused = ctx.validateUrl(`${settings.tls.mode === 'off' ? 'http' : 'https'}://${hostOf(place.host)}/`)
  if (refused !== undefined) throw refuse('invalid_request', `settings.connection: ${refused}`)
  return { settings: { ...settings, place }, secret: { connection: text } }
}

/** The stored connection string, if `tls` stays the same, so that its password takes the same route. */
function storedConnection({ tls }: Pick<Of<'postgres'>, 'tls'>, held: Divided | undefined): string {
  const isSafe = held !== undefined && 'tls' in held.settings && isSame(held.settings.tls, tls)
  const text = isSafe ? held.secret.connection : undefined
  if (text !== undefined) return text
  throw refuse(
    'invalid_request',
    held === undefined
      ? 'settings.connection is missing. Send the connection string.'
      : 'settings.connection: send it again when you change tls, because the password would take another route.',
  )
}

function validateReplication(
  { tables, publication, slot }: Pick<Of<'postgres_replication'>, 'tables' | 'publication' | 'slot'>,
  held: Divided | undefined,
): string | undefined {
  if ((tables === null) === (publication === null))
    return 'settings.tables: set either tables, so that Postroad creates a publication, or publication, the name of an existing one.'
  if (held?.settings.kind === 'postgres_replication' && held.settings.slot !== slot)
    return 'settings.slot: a source stores the position of one slot, so the slot cannot change. Create another source for another slot.'
  return undefined
}

type Of<Kind extends SourceSettings['kind']> = Extract<SourceSettings, { kind: Kind }>

function divideHttp(
  ctx: Ctx,
  { sent, held }: { sent: Of<'http_poll'> | Of<'sse'>; held: Divided | undefined },
): Divided {
  const stored = held?.secret.headers ?? {}
  checkMove(sent, held)
  const refused = ctx.validateUrl(sent.url)
  if (refused !== undefined) throw refuse('invalid_request', `settings.url: ${refused}`)
  const headers = changedHeaders(sent.headers, stored)
  const cursorHeader = sent.kind === 'http_poll' && sent.cursor?.send_in === 'header' ? sent.cursor.send_as : undefined
  const why = cursorHeader === undefined ? undefined : validateHeader(cursorHeader, '')
  if (why !== undefined) throw refuse('invalid_request', `settings.cursor.send_as: ${why}`)
  // Only the names are stored in the clear.
  const names = Object.fromEntries(Object.keys(headers).map((name) => [name, null]))
  return { settings: { ...sent, headers: names }, secret: { headers } }
}

/** Stored values of headers go only to the origin that they were set for. */
function checkMove({ url, headers }: Of<'http_poll'> | Of<'sse'>, held: Divided | undefined): void {
  const from = held !== undefined && 'url' in held.settings ? held.settings.url : url
  if (isSameOrigin(from, url) || bringsEveryValue(headers, held?.secret.headers ?? {})) return
  throw refuse(
    'invalid_request',
    'settings.headers: send the values again, because the origin of the url changes and the stored values were set for the current origin.',
  )
}

const isSameOrigin = (a: string, b: string): boolean => URL.parse(a)?.origin === URL.parse(b)?.origin

const hostOf = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

export function sealSecret(ctx: Ctx, { id, secret }: { id: string; secret: SourceSecret }): Buffer {
  return ctx.cipher.seal(JSON.stringify(secret), secretPlace('sources.secret', id))
}

export function openSecret(ctx: Pick<Ctx, 'cipher'>, { id, secret }: Pick<SourceRow, 'id' | 'secret'>): SourceSecret {
  if (secret === null) return {}
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by sealSecret, and opens only as it was sealed
  return JSON.parse(ctx.cipher.open(secret, secretPlace('sources.secret', id)).reveal()) as SourceSecret
}
