import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, type Channel } from 'amqplib'
import { aFolder, aFreePort, runServer, tlsFilesIn, type Broker, type ServerTls, type StoredEvent } from './process.ts'

const QUEUE = 'events'
const PASSWORD = 'rabbit-password'

/** The wrapper in /usr/sbin changes the user and the folders, so the program behind it is started. */
export const rabbitServer = (): string | undefined => {
  const named = process.env['RABBITMQ_SERVER']
  const [found] = globSync('/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server')
  return named ?? (found !== undefined && existsSync('/usr/bin/epmd') ? found : undefined)
}

/** RabbitMQ of the package rabbitmq-server, with a durable queue. Its name service is a child too, so nothing of it stays behind. */
export async function aRabbit(file: string, tls?: ServerTls): Promise<Broker> {
  const [folder, port, names, nodes, tlsPort] = [
    await aFolder('rabbitmq'),
    await aFreePort(),
    await aFreePort(),
    await aFreePort(),
    await aFreePort(),
  ]
  const nameService: ChildProcess = spawn('/usr/bin/epmd', ['-port', String(names), '-address', '127.0.0.1'], {
    stdio: 'ignore',
  })
  const server = await runServer({
    folder,
    port,
    beside: nameService,
    prepare: async () => {
      const settings = [
        `listeners.tcp.1 = 127.0.0.1:${port}`,
        'default_user = app',
        `default_pass = ${PASSWORD}`,
        'loopback_users = none',
        'disk_free_limit.absolute = 10MB',
        ...(tls === undefined ? [] : tlsSettings(tlsPort, await tlsFilesIn(folder, tls))),
      ]
      await writeFile(join(folder, 'rabbitmq.conf'), `${settings.join('\n')}\n`)
      await writeFile(join(folder, 'plugins'), '[].\n')
    },
    program: () => ({
      file,
      args: [],
      options: {
        env: {
          PATH: process.env['PATH'],
          HOME: folder,
          ERL_EPMD_PORT: String(names),
          RABBITMQ_NODENAME: `postroad${port}@localhost`,
          RABBITMQ_DIST_PORT: String(nodes),
          RABBITMQ_BASE: folder,
          RABBITMQ_MNESIA_BASE: join(folder, 'data'),
          RABBITMQ_LOG_BASE: join(folder, 'log'),
          RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
          RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
          RABBITMQ_CONF_ENV_FILE: '/dev/null',
          RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}',
        },
      },
    }),
    ready: () => asApp(port, (channel) => channel.assertQueue(QUEUE, { durable: true })),
  })
  return {
    ...server,
    name: 'rabbitmq',
    members: {
      url: tls === undefined ? `amqp://127.0.0.1:${port}` : `amqps://${tls.host}:${tlsPort}`,
      config: { kind: 'amqp', routing_key: QUEUE },
      auth: { kind: 'basic', username: 'app', password: PASSWORD },
    },
    stored: () => asApp(port, messagesOf),
  }
}

const tlsSettings = (port: number, { ca, cert, key }: Awaited<ReturnType<typeof tlsFilesIn>>): readonly string[] => [
  `listeners.ssl.1 = 127.0.0.1:${port}`,
  `ssl_options.cacertfile = ${ca}`,
  `ssl_options.certfile = ${cert}`,
  `ssl_options.keyfile = ${key}`,
  'ssl_options.verify = verify_peer',
  'ssl_options.fail_if_no_peer_cert = true',
]

/** Reads all messages without taking them: the end of the channel puts them back. */
async function messagesOf(channel: Channel): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = []
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one message after the other
    const message = await channel.get(QUEUE, { noAck: false })
    if (message === false) return found
    found.push({ id: String(message.properties.messageId), body: message.content.toString() })
  }
}

async function asApp<T>(port: number, work: (channel: Channel) => Promise<T>): Promise<T> {
  const connection = await connect(
    { hostname: '127.0.0.1', port, username: 'app', password: PASSWORD },
    { timeout: 5_000 },
  )
  connection.on('error', () => undefined)
  try {
    return await work(await connection.createChannel())
  } finally {
    await connection.close().catch(() => undefined)
  }
}
