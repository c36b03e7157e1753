import type { Socket } from 'node:net'
import pg from 'pg'
import { LIMITS } from '@postroad/contract'
import { ForeignFailure } from '../foreign-failure.ts'
import type { OutboundReach } from '../outbound-reach.ts'
import { alreadyConnected, openSocket, tlsOf } from './socket.ts'
import type { DatabasePlace } from './types.ts'

/** The settings of the driver for a socket that is connected to an address that the guard has checked. */
export function clientConfigOf({
  reach,
  place,
  socket,
}: {
  reach: OutboundReach
  place: DatabasePlace
  socket: Socket
}): pg.ClientConfig {
  return {
    // The socket is connected already. The driver only shows these, and takes everything it lacks from the environment.
    host: place.host,
    port: place.port,
    database: place.database,
    user: place.user,
    password: () => place.password,
    application_name: 'postroad',
    ssl: place.tls.mode === 'off' ? false : tlsOf(reach, place),
    stream: () => alreadyConnected(socket),
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
  const socket = await openSocket(at.reach, at.place)
  const close = (): void => {
    at.signal.removeEventListener('abort', close)
    socket.destroy()
  }
  at.signal.addEventListener('abort', close)
  if (at.signal.aborted) close()
  const config = {
    ...clientConfigOf({ ...at, socket }),
    query_timeout: LIMITS.sourceStatementMs + ANSWER_SPARE_MS,
    ...(at.replication === true ? { replication: 'database' } : {}),
  }
  const client = new pg.Client(config)
  // A connection that breaks later fails the statement under way.
  client.on('error', () => undefined)
  try {
    await client.connect()
    limitAnswers(client)
    return { client, close }
  } catch (error) {
    close()
    throw error
  }
}

/** The driver collects a whole answer in memory, and the other server alone decides how long it is. */
function limitAnswers(client: pg.Client): void {
  const stream = streamOf(client)
  let bytes = 0
  // The response is complete, so the next one starts at zero.
  client.on('drain', () => {
    bytes = 0
  })
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) stream.destroy(tooLarge())
  })
}

const tooLarge = (): ForeignFailure =>
  new ForeignFailure(
    'response_too_large',
    `The database sent more than ${ANSWER_BYTES_MAX / 1_048_576} MiB in one response. Select fewer or smaller columns.`,
  )

/** The part of the driver's client that has no types: its socket, which is the encrypted one with TLS. */
type Connected = { readonly connection: { readonly stream: Socket } }

export function streamOf(client: pg.Client): Socket {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the driver's connection has this member
  return (client as unknown as Connected).connection.stream
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
