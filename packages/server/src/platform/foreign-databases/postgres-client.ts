import type pg from 'pg'
import { LIMITS } from '@postroad/contract'
import type { GuardedSocket } from '../guarded/guarded-socket.ts'
import { POSTGRES } from '../guarded/units.ts'
import type { OutboundReach } from '../outbound-reach.ts'
import { LOGIN_BYTES_MAX, openSocket } from './socket.ts'
import type { DatabasePlace } from './types.ts'

/** The settings of the driver for a socket that is connected and encrypted already. */
export function clientConfigOf({ place, socket }: { place: DatabasePlace; socket: GuardedSocket }): pg.ClientConfig {
  return {
    // The driver only shows these, and takes everything it lacks from the environment.
    host: place.host,
    port: place.port,
    database: place.database,
    user: place.user,
    password: () => place.password,
    application_name: 'postroad',
    ssl: false,
    stream: () => socket,
    connectionTimeoutMillis: LIMITS.deliveryConnectMs,
    types: { getTypeParser: () => (text: string | Buffer) => text.toString() },
  }
}

const ANSWER_SPARE_MS = 5_000
/** Much more than a page: PostgreSQL itself limits the bytes of a page. */
const ANSWER_BYTES_MAX = 4 * LIMITS.sourceBatchBytesMax

type At = {
  readonly reach: OutboundReach
  readonly place: DatabasePlace
  readonly signal: AbortSignal
  readonly replication?: boolean
}

/** A connection that is open. `close` may be called twice. */
export type OpenPostgres = { readonly client: pg.Client; readonly close: () => void }

/**
 * Connects. Values are texts as PostgreSQL writes them. With `replication`, the connection accepts statements without
 * parameters only, and needs a user who may replicate. The signal ends the connection.
 */
export async function connectPostgres(at: At): Promise<OpenPostgres> {
  const { default: driver } = await import('pg')
  const budget = { units: POSTGRES, unitBytesMax: ANSWER_BYTES_MAX, answerBytesMax: LOGIN_BYTES_MAX }
  const socket = await openSocket({ ...at, ...budget, opening: 'postgres' })
  const close = (): void => void socket.destroy()
  const client = new driver.Client({
    ...clientConfigOf({ ...at, socket }),
    query_timeout: LIMITS.sourceStatementMs + ANSWER_SPARE_MS,
    ...(at.replication === true ? { replication: 'database' } : {}),
  })
  // A connection that breaks later fails the statement under way.
  client.on('error', () => undefined)
  // The response is complete, so the next one starts at zero.
  client.on('drain', () => socket.startAnswer())
  try {
    await client.connect()
    socket.startAnswer(ANSWER_BYTES_MAX)
    return { client, close }
  } catch (error) {
    close()
    throw error
  }
}

/** Connects, works and disconnects. */
export async function withPostgres<T>(at: At, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { client, close } = await connectPostgres(at)
  try {
    return await work(client)
  } finally {
    close()
  }
}
