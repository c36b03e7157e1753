import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import {
  aFolder,
  aFreePort,
  programOf,
  runServer,
  tlsFilesIn,
  type Broker,
  type ServerTls,
  type StoredEvent,
} from './process.ts'

const STREAM = 'EVENTS'
const PASSWORD = 'nats-password'

/** No package of Debian has this server, so NATS_SERVER names the program. */
export const natsServer = (): string | undefined => programOf(['/usr/bin/nats-server'], 'NATS_SERVER')

/** NATS with JetStream, which writes each message to its disk before it answers. */
export async function aNats(file: string, tls?: ServerTls): Promise<Broker> {
  const [folder, port] = [await aFolder('nats'), await aFreePort()]
  const server = await runServer({
    folder,
    port,
    prepare: async () =>
      writeFile(
        join(folder, 'nats.conf'),
        `host: 127.0.0.1\nport: ${port}\nmax_payload: 1MB\n` +
          `authorization { user: app, password: "${PASSWORD}" }\n` +
          `jetstream { store_dir: "${folder}", sync_interval: always }\n` +
          (tls === undefined ? '' : tlsBlock(await tlsFilesIn(folder, tls))),
      ),
    program: () => ({ file, args: ['-c', join(folder, 'nats.conf')] }),
    ready: () => asApp({ port, tls }, (manager) => manager.streams.add({ name: STREAM, subjects: ['events.>'] })),
  })
  return {
    ...server,
    name: 'nats',
    members: {
      url: tls === undefined ? `nats://127.0.0.1:${port}` : `tls://${tls.host}:${port}`,
      config: { kind: 'nats', subject: 'events.{dataset}' },
      auth: { kind: 'basic', username: 'app', password: PASSWORD },
    },
    stored: () => asApp({ port, tls }, messagesOf),
  }
}

async function messagesOf(manager: JetStreamManager): Promise<readonly StoredEvent[]> {
  const { state } = await manager.streams.info(STREAM)
  const found: StoredEvent[] = []
  for (let seq = Math.max(state.first_seq, 1); seq <= state.last_seq; seq += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one message after the other
    const message = await manager.streams.getMessage(STREAM, { seq })
    if (message !== null) found.push({ id: message.header.get('Nats-Msg-Id'), body: message.string() })
  }
  return found
}

const tlsBlock = ({ ca, cert, key }: Awaited<ReturnType<typeof tlsFilesIn>>): string =>
  `tls { ca_file: "${ca}", cert_file: "${cert}", key_file: "${key}", verify: true }\n`

type At = { readonly port: number; readonly tls: ServerTls | undefined }

async function asApp<T>({ port, tls }: At, work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  const connection = await connect({
    servers: `127.0.0.1:${port}`,
    user: 'app',
    pass: PASSWORD,
    reconnect: false,
    tls: tls === undefined ? null : ofHost(tls),
  })
  try {
    return await work(await jetstreamManager(connection))
  } finally {
    await connection.close()
  }
}

/** `servername` is the name in the certificate, because the client connects to an address. */
const ofHost = ({ host, ca, cert, key }: ServerTls) => ({ ca, cert, key, servername: host })
