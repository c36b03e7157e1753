import { Client } from 'undici'
import { LIMITS } from '@postroad/contract'
import type { Broken, Dial, DialOf } from './dial-type.ts'
import type { Exchange } from './exchange.ts'
import type { OutboundStats, Transport } from './request.ts'
import { HEAD_BYTES_MAX, headsOn, type ResponseHeads } from './response-heads.ts'

/** Carries one request at a time. `socket` is set even while the connection is still being made. */
type Connection = {
  readonly lane: Lane
  readonly client: Client
  socket: Broken | undefined
  heads: ResponseHeads | undefined
  exchange: Exchange | undefined
  retired: boolean
}

/** The connection that became idle last is used first, so that unneeded ones stay idle and close. */
type Lane = {
  readonly key: string
  readonly name: string
  readonly origin: string
  readonly dial: Dial
  readonly idle: Connection[]
  readonly waiting: Set<Exchange>
  open: number
}

/** The lane in which an exchange waits, and the connection that carries it. */
type Place = { readonly lane: Lane; readonly connection: Connection | undefined }

/** Servers commonly hang up after 5 idle seconds. We close earlier, so that we do not write into a closing socket. */
const CLIENT: Client.Options = {
  pipelining: 1,
  allowH2: false,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: HEAD_BYTES_MAX,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 15_000,
  keepAliveTimeoutThreshold: 1_500,
}

/**
 * Connections by lane: each carries one request at a time and stays open while idle. A lane is removed with its last
 * connection.
 */
export class Lanes {
  readonly #dialOf: DialOf
  readonly #idleMax: number
  readonly #lanes = new Map<string, Lane>()
  readonly #connections = new Set<Connection>()
  readonly #places = new Map<Exchange, Place>()
  /** All idle connections of all lanes, longest idle first. */
  readonly #idle = new Set<Connection>()

  constructor(dialOf: DialOf, idleMax: number) {
    this.#dialOf = dialOf
    this.#idleMax = idleMax
  }

  enter(exchange: Exchange, origin: string, transport?: Transport): void {
    const { lane: name } = exchange
    const key = transport === undefined ? `${origin} ${name}` : `${origin} ${name} ${transport.key}`
    const lane = this.#lanes.get(key) ?? {
      key,
      name,
      origin,
      dial: this.#dialOf(transport),
      idle: [],
      waiting: new Set(),
      open: 0,
    }
    this.#lanes.set(key, lane)
    this.#places.set(exchange, { lane, connection: undefined })
    lane.waiting.add(exchange)
    this.#advance(lane)
  }

  /** `keep` is for a connection whose answer was read to its end. */
  leave(exchange: Exchange, keep: boolean): void {
    const place = this.#places.get(exchange)
    if (place === undefined) return
    const { lane, connection } = place
    this.#places.delete(exchange)
    lane.waiting.delete(exchange)
    if (connection === undefined) return
    if (!keep) return this.#retire(connection)
    this.#rest(connection)
    this.#advance(lane)
  }

  /** Ends the idle connections of these lanes. */
  cut(names: readonly string[]): void {
    for (const connection of this.#idle) if (names.includes(connection.lane.name)) this.#retire(connection)
  }

  async close(): Promise<void> {
    const clients = [...this.#connections].map(({ client }) => client)
    for (const connection of this.#connections) this.#retire(connection)
    await Promise.all(clients.map((client) => client.destroy()))
  }

  stats(): Omit<OutboundStats, 'inFlight'> {
    return { lanes: this.#lanes.size, connections: this.#connections.size, idle: this.#idle.size }
  }

  #advance(lane: Lane): void {
    for (const exchange of lane.waiting) {
      if (lane.open - lane.idle.length >= exchange.inFlightMax) break
      lane.waiting.delete(exchange)
      const connection = lane.idle.pop() ?? this.#open(lane)
      this.#idle.delete(connection)
      connection.exchange = exchange
      this.#places.set(exchange, { lane, connection })
      exchange.carried = true
      connection.heads?.expect()
      connection.client.dispatch(exchange.dispatched, exchange)
    }
    if (lane.open === 0 && lane.waiting.size === 0 && this.#lanes.get(lane.key) === lane) this.#lanes.delete(lane.key)
  }

  #open(lane: Lane): Connection {
    const client = new Client(lane.origin, {
      ...CLIENT,
      connect: (target, callback) => {
        connection.socket = lane.dial(target, (...given) => {
          const [error, socket] = given
          // The first error of a socket explains more than undici's error for its end; a TLS alert is an example.
          socket?.once('error', (first: Error) => connection.exchange?.note(first))
          if (error === null) connection.heads = headsOn(socket, LIMITS.linkAnswerBytesMax)
          callback(...given)
        })
      },
    })
    const connection: Connection = {
      lane,
      client,
      socket: undefined,
      heads: undefined,
      exchange: undefined,
      retired: false,
    }
    client.on('disconnect', () => {
      if (connection.exchange === undefined) this.#retire(connection)
    })
    lane.open += 1
    this.#connections.add(connection)
    return connection
  }

  #rest(connection: Connection): void {
    connection.exchange = undefined
    connection.lane.idle.push(connection)
    this.#idle.add(connection)
    const [longest] = this.#idle
    if (this.#idle.size > this.#idleMax && longest !== undefined) this.#retire(longest)
  }

  /** Ends a connection, even one that is still being made, and gives its slot to the next request. */
  #retire(connection: Connection): void {
    if (connection.retired) return
    const { lane, client, socket } = connection
    connection.retired = true
    if (this.#idle.delete(connection)) lane.idle.splice(lane.idle.indexOf(connection), 1)
    lane.open -= 1
    this.#connections.delete(connection)
    client.destroy(null, () => undefined)
    socket?.destroy()
    queueMicrotask(() => this.#advance(lane))
  }
}
