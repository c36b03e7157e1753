import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { aFolder, aFreePort, programOf, runServer, tlsFilesIn, type Broker, type ServerTls } from './process.ts'

const STREAM = 'events'
const PASSWORD = 'redis-password'

export const redisServer = (): string | undefined =>
  programOf(['/usr/bin/redis-server', '/usr/local/bin/redis-server'], 'REDIS_SERVER')

/** Redis of the package redis-server. It writes each entry to its disk before it answers. With TLS it has a second port. */
export async function aRedis(file: string, tls?: ServerTls): Promise<Broker> {
  const [folder, port, tlsPort] = [await aFolder('redis'), await aFreePort(), await aFreePort()]
  const server = await runServer({
    folder,
    port,
    prepare: async () =>
      writeFile(
        join(folder, 'redis.conf'),
        [
          `port ${port}`,
          'bind 127.0.0.1',
          `dir ${folder}`,
          'appendonly yes',
          'appendfsync always',
          'save ""',
          'user default off',
          `user app on >${PASSWORD} ~* &* +@all`,
          ...(tls === undefined ? [] : tlsSettings(tlsPort, await tlsFilesIn(folder, tls))),
        ].join('\n'),
      ),
    program: () => ({ file, args: [join(folder, 'redis.conf')] }),
    ready: () => asApp(port, (client) => client.ping()),
  })
  return {
    ...server,
    name: 'redis',
    members: {
      url: tls === undefined ? `redis://127.0.0.1:${port}/0` : `rediss://${tls.host}:${tlsPort}/0`,
      config: { kind: 'redis_stream', stream: STREAM },
      auth: { kind: 'basic', username: 'app', password: PASSWORD },
    },
    stored: () =>
      asApp(port, async (client) =>
        ((await client.xRange(STREAM, '-', '+')) ?? []).map(({ message }) => ({
          id: message['id'] ?? '',
          body: message['body'] ?? '',
        })),
      ),
  }
}

const tlsSettings = (port: number, { ca, cert, key }: Awaited<ReturnType<typeof tlsFilesIn>>): readonly string[] => [
  `tls-port ${port}`,
  `tls-ca-cert-file ${ca}`,
  `tls-cert-file ${cert}`,
  `tls-key-file ${key}`,
  'tls-auth-clients yes',
]

type Client = ReturnType<typeof createClient>

async function asApp<T>(port: number, work: (client: Client) => Promise<T>): Promise<T> {
  const client: Client = createClient({
    socket: { host: '127.0.0.1', port, reconnectStrategy: false },
    username: 'app',
    password: PASSWORD,
    RESP: 2,
  })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    client.destroy()
  }
}
