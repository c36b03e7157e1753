import pg from 'pg'
import { LIMITS } from '@postroad/contract'
import { ForeignFailure } from '../foreign-failure.ts'
import { alreadyConnected, openSocket } from '../foreign-databases/socket.ts'
import { LinkFailure, linkFailure, noAccess, refusedBy, saidBy } from './failure.ts'
import { codeOf, tlsOptions } from './reach.ts'
import type { LinkMessage, LinkSettings, OpenLink } from './types.ts'

type Settings = LinkSettings<'postgres'>

/** Inserts are short, so a few connections carry many deliveries. */
const CONNECTIONS_MAX = 10

/**
 * Inserts a row for each event. The id is unique, so a repeat changes nothing. Each insert commits by itself, and the
 * answer comes after its commit.
 */
export const openPostgres: OpenLink<'postgres'> = async (settings) => {
  const { config, maxInFlight, signal } = settings
  const size = Math.min(maxInFlight, CONNECTIONS_MAX)
  const free: pg.Client[] = []
  const all = new Set<pg.Client>()
  const waiting: ((client: pg.Client | undefined) => void)[] = []
  let opening = 0
  let broken = false

  const drop = (client: pg.Client): void => {
    all.delete(client)
    void client.end().catch(() => undefined)
    const at = free.indexOf(client)
    if (at >= 0) free.splice(at, 1)
    // A server that breaks connections may have restarted elsewhere, so the next event opens a new link.
    broken = true
    for (const wake of waiting.splice(0)) wake(undefined)
  }
  const add = async (): Promise<pg.Client> => {
    opening += 1
    try {
      const client = await connected(settings)
      all.add(client)
      client.on('error', () => drop(client))
      client.on('end', () => drop(client))
      return client
    } finally {
      opening -= 1
    }
  }
  const take = async (): Promise<pg.Client> => {
    const idle = free.pop()
    if (idle !== undefined) return idle
    if (all.size + opening < size) return add()
    const client = await new Promise<pg.Client | undefined>((resolve) => waiting.push(resolve))
    if (client === undefined) throw linkFailure(undefined)
    return client
  }
  const give = (client: pg.Client): void => {
    if (!all.has(client)) return
    const next = waiting.shift()
    if (next === undefined) free.push(client)
    else next(client)
  }
  const close = (): void => {
    broken = true
    for (const client of all) destroy(client)
    for (const wake of waiting.splice(0)) wake(undefined)
  }
  signal.addEventListener('abort', close)
  free.push(await add())
  const text = statement(config)

  return {
    isBroken: () => broken,
    close,
    send: async (message, late) => {
      const client = await take()
      // A statement that hangs occupies its connection, so the connection is given up.
      const giveUp = (): void => {
        destroy(client)
        drop(client)
      }
      if (late.aborted) give(client)
      late.throwIfAborted()
      late.addEventListener('abort', giveUp)
      try {
        const { rowCount } = await client.query(text, values(config, message))
        return rowCount === 0 ? 'INSERT 0 0: the event was already there' : `INSERT 0 ${rowCount}`
      } catch (error) {
        throw failureOf(error)
      } finally {
        late.removeEventListener('abort', giveUp)
        give(client)
      }
    },
  }
}

const streams = new WeakMap<pg.Client, { destroy(): unknown }>()
const destroy = (client: pg.Client): void => void streams.get(client)?.destroy()

async function connected({ reach, place, signal }: Settings): Promise<pg.Client> {
  try {
    const mode = place.isEncrypted ? 'verify' : 'off'
    const socket = await openSocket(reach, { host: place.host, port: place.port, tls: { mode } })
    if (signal.aborted) socket.destroy()
    signal.addEventListener('abort', () => socket.destroy(), { once: true })
    const client = new pg.Client({
      host: place.host,
      port: place.port,
      database: decodeURIComponent(place.path.slice(1)),
      user: place.user?.name ?? 'postgres',
      password: () => place.user?.password ?? '',
      application_name: 'postroad',
      ssl: place.isEncrypted ? tlsOptions(reach, place) : false,
      stream: () => alreadyConnected(socket),
      connectionTimeoutMillis: LIMITS.deliveryConnectMs,
      statement_timeout: LIMITS.deliveryTimeoutMsMax,
    })
    streams.set(client, socket)
    client.on('error', () => undefined)
    await client.connect()
    return client
  } catch (error) {
    throw failureOf(error)
  }
}

/** The names are plain, as the schema of the settings requires, so they need no quotes. */
function statement({ table, columns }: Settings['config']): string {
  const names = [columns.id, columns.body, columns.dataset, columns.received_at].filter((name) => name !== null)
  const places = names.map((_name, index) => `$${index + 1}`).join(', ')
  return `insert into ${table} (${names.join(', ')}) values (${places}) on conflict (${columns.id}) do nothing`
}

function values({ columns }: Settings['config'], { id, body, dataset, receivedAt }: LinkMessage): string[] {
  return [
    id,
    body,
    ...(columns.dataset === null ? [] : [dataset]),
    ...(columns.received_at === null ? [] : [receivedAt.toISOString()]),
  ]
}

/** By SQLSTATE. 42P10: no unique index. 22P05: text that this database cannot store, such as \u0000 in jsonb. */
function failureOf(error: unknown): LinkFailure {
  if (error instanceof ForeignFailure) return new LinkFailure(codeOfReason(error.reason), error.message)
  const code = codeOf(error)
  if (/^(28|42501)/.test(code)) return noAccess(error)
  if (code === '42P10')
    return new LinkFailure(
      'refused',
      'The ID column has no unique index, so Postroad cannot detect duplicates. Create one.',
    )
  if (/^(57P0[123]|53300|08)/.test(code))
    return new LinkFailure('connection_reset', `The database closed the connection. It says: ${saidBy(error)}`)
  if (/^[0-9A-Z]{5}$/.test(code)) return refusedBy(error, 'The database refused the row.')
  if (error instanceof Error && /SSL|TLS|certificate/i.test(error.message))
    return new LinkFailure(
      'tls_failed',
      `The encrypted connection failed: ${saidBy(error)}. Set tls.ca, or config.encryption.`,
    )
  return linkFailure(error)
}

const codeOfReason = (reason: string): LinkFailure['code'] =>
  reason === 'timeout' || reason === 'connection_refused' || reason === 'dns_failed' || reason === 'blocked_address'
    ? reason
    : 'connection_reset'
