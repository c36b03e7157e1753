import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { DatabaseTarget } from '../../src/platform/db.ts'
import type { Pair } from './tls-files.ts'

/** A TCP port for the PostgreSQL of the test, which listens on a socket file only. With a certificate it speaks TLS. */
export type DatabaseRelay = {
  readonly port: number
  /** The number of connections so far. */
  readonly count: () => number
  /** Breaks every connection. */
  cut(): void
  /** Breaks every connection, and answers new ones as PostgreSQL does while it starts, until the returned function is called. */
  restart(): () => void
  /** The number of connections that got this answer. */
  readonly turnedAway: () => number
  stop(): Promise<void>
}

/** The request for TLS has 8 bytes; the last four are this number. */
const SSL_REQUEST = 80_877_103
/** An ErrorResponse with three fields. */
const STARTING = Buffer.from('\0SFATAL\0C57P03\0Mthe database system is starting up\0\0', 'latin1').subarray(1)

export async function aDatabaseRelay(target: DatabaseTarget, pair?: Pair): Promise<DatabaseRelay> {
  const open = new Set<Socket>()
  let [count, turnedAway, isStarting] = [0, 0, false]
  const server = createServer((client) => {
    count += 1
    open.add(client)
    client.once('data', (first: Buffer) => {
      if (isStarting) {
        turnedAway += 1
        client.end(errorResponse(STARTING))
        return
      }
      const asksForTls = first.length === 8 && first.readUInt32BE(4) === SSL_REQUEST
      if (asksForTls && pair !== undefined) {
        client.write('S')
        join(new TLSSocket(client, { isServer: true, key: pair.key, cert: pair.cert }), undefined)
      } else join(client, first)
    })
    client.on('error', () => client.destroy())
    client.on('close', () => open.delete(client))
  })
  const join = (client: Socket, first: Buffer | undefined): void => {
    const behind = connect(placeOf(target))
    if (first !== undefined) behind.write(first)
    client.pipe(behind)
    behind.pipe(client)
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  }
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    count: () => count,
    cut,
    restart: () => {
      isStarting = true
      cut()
      return () => {
        isStarting = false
      }
    },
    turnedAway: () => turnedAway,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

function errorResponse(fields: Buffer): Buffer {
  const head = Buffer.from('E\0\0\0\0', 'latin1')
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

function placeOf(target: DatabaseTarget): { path: string } | { host: string; port: number } {
  if ('url' in target) {
    const { hostname, port } = new URL(target.url)
    return { host: hostname, port: Number(port || 5_432) }
  }
  return target.host.startsWith('/')
    ? { path: `${target.host}/.s.PGSQL.${target.port}` }
    : { host: target.host, port: target.port }
}

/** A connection string for the relay. */
export function connectionTo(target: DatabaseTarget, at: { port: number; host?: string }): string {
  const { host = '127.0.0.1', port } = at
  if ('url' in target) {
    const url = new URL(target.url)
    return `postgres://${url.username}:${url.password}@${host}:${port}${url.pathname}`
  }
  return `postgres://${target.username}:any@${host}:${port}/${target.database}`
}
