import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer, type AddressInfo, type Server as NetServer } from 'node:net'
import { StartError } from '../platform/embedded-postgres.ts'

type At = { readonly host: string; readonly port: number }

/** A socket that listens, as another process gets it. */
export type ListeningSocket = { close(): void }

const sockets = new WeakMap<Server, NetServer[]>()

/** The sockets of a server that listens. */
export function socketsOf(server: Server): readonly ListeningSocket[] {
  return [server, ...(sockets.get(server) ?? [])].flatMap((one) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node gives a socket to another process without its server only so
    const { _handle: socket } = one as unknown as { readonly _handle?: ListeningSocket | null }
    return socket === undefined || socket === null ? [] : [socket]
  })
}

/** Listens to sockets that another process listened to, and returns the port. The first one is that of the server. */
export async function listenTo(server: Server, [own, ...others]: readonly ListeningSocket[]): Promise<number> {
  await begin(server, own)
  for (const other of others) await listenToo(server, other)
  return portOf(server)
}

function portOf(server: Server): number {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  return (server.address() as AddressInfo).port
}

/** Listens, and returns the port. `localhost` is every address of that name, as clients try them in any order. */
export async function listenAt(server: Server, at: At): Promise<number> {
  try {
    await begin(server, at)
  } catch (error) {
    throw new StartError(listenFailure(error, at), { cause: error })
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  const { address, port } = server.address() as AddressInfo
  if (at.host !== 'localhost') return port
  const found = await lookup(at.host, { all: true }).catch(() => [])
  const others = new Set(found.map((one) => one.address).filter((one) => one !== address))
  await Promise.all([...others].map((host) => listenToo(server, { host, port })))
  return port
}

async function begin(server: NetServer, at: At | ListeningSocket | undefined): Promise<void> {
  server.listen(at)
  await once(server, 'listening')
}

/** Passes the connections of another address to the server. An address that this machine lacks is left out. */
async function listenToo(server: Server, at: At | ListeningSocket): Promise<void> {
  const other = createServer({ noDelay: true }, (socket) => server.emit('connection', socket))
  other.maxConnections = server.maxConnections
  const isOpen = await begin(other, at).then(
    () => true,
    () => false,
  )
  if (!isOpen) return
  sockets.set(server, [...(sockets.get(server) ?? []), other])
  server.once('close', () => other.close())
}

const SILENT_MS = 20_000

type Closing = { readonly server: Server; readonly router: { close(): unknown } }

/** A closed listener no longer checks for slow senders, so a silent one would keep the process alive forever. This cuts it off. */
export async function closeListener({ server, router }: Closing): Promise<void> {
  // oxlint-disable-next-line house/no-ambient -- sockets need real time, whatever the clock of the server is
  const cut = setTimeout(() => server.closeAllConnections(), SILENT_MS)
  try {
    await router.close()
    // A server that does not listen calls back too.
    await new Promise<void>((resolve) => void server.close(() => resolve()))
  } finally {
    clearTimeout(cut)
  }
}

function listenFailure(error: unknown, at: { host: string; port: number }): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE')
    return `Port ${at.port} on ${at.host} is in use. Set PORT to another one, or stop the program that uses it.`
  if (code === 'EACCES') return `This user cannot open port ${at.port}. Set PORT to a port above 1023.`
  if (code === 'EADDRNOTAVAIL')
    return `This machine has no address ${at.host}. Set HOST to an address of this machine, or to 127.0.0.1.`
  return `Cannot listen on ${at.host}:${at.port}: ${error instanceof Error ? error.message : String(error)}`
}
