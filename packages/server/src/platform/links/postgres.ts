import pg from 'pg'
import { LIMITS } from '@postroad/contract'
import type { GuardedSocket } from '../guarded/guarded-socket.ts'
import { POSTGRES } from '../guarded/units.ts'
import { codeOf, LinkFailure, linkFailure, noAccess, refusedBy, saidBy } from './failure.ts'
import type { LinkMessage, LinkSettings, OpenLink } from './types.ts'

type Settings = LinkSettings<'postgres'>

/** Inserts are short, so a few connections carry many deliveries. */
const CONNECTIONS_MAX = 10

/**
 * Inserts a row for each event. The id is unique, so a repeat changes nothing. Each insert commits by itself, and the
 * answer comes after its commit.
 */
export const openPostgres: OpenLink<'postgres'> = async (settings) => {
  const { config, maxInFlight } = settings
  const size = Math.min(maxInFlight, CONNECTIONS_MAX)
  const free: pg.Client[] = []
  const all = new Map<pg.Client, GuardedSocket>()
  const waiting: ((client: pg.Client | undefined) => void)[] = []
  let opening = 0
  let broken = false

  const drop = (client: pg.Client): void => {
    all.get(client)?.destroy()
    all.delete(client)
    const at = free.indexOf(client)
    if (at >= 0) free.splice(at, 1)
    // A server that breaks connections may have restarted elsewhere, so the next event opens a new link.
    broken = true
    for (const wake of waiting.splice(0)) wake(undefined)
  }
  const add = async (): Promise<pg.Client> => {
    opening += 1
    try {
      const { client, socket } = await connected(settings)
      all.set(client, socket)
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
    for (const client of all.keys()) client.end().catch(() => undefined)
    for (const wake of waiting.splice(0)) wake(undefined)
  }
  free.push(await add())
  const text = statement(config)

  return {
    isBroken: () => broken,
    close,
    send: async (message, late) => {
      const client = await take()
      // A statement that hangs occupies its connection, so the connection is given up.
      const giveUp = (): void => drop(client)
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

async function connected({ openSocket, place }: Settings): Promise<{ client: pg.Client; socket: GuardedSocket }> {
  const socket = await openSocket({ units: POSTGRES, opening: 'postgres' })
  const client = new pg.Client({
    host: place.host,
    port: place.port,
    database: decodeURIComponent(place.path.slice(1)),
    user: place.user?.name ?? 'postgres',
    password: () => place.user?.password ?? '',
    application_name: 'postroad',
    // The socket is connected and encrypted already.
    ssl: false,
    stream: () => socket,
    connectionTimeoutMillis: LIMITS.deliveryConnectMs,
    statement_timeout: LIMITS.deliveryTimeoutMsMax,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return { client, socket }
  } catch (error) {
    socket.destroy()
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
  return linkFailure(error)
}
