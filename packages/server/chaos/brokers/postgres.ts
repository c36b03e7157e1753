import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { commandFor, makerFor, run } from '../../src/platform/postgres/account.ts'
import { findBinaries } from '../../src/platform/postgres/binaries.ts'
import { placeOf } from '../../src/platform/postgres/place.ts'
import { aFolder, aFreePort, runServer, type Broker, type StoredEvent } from './process.ts'

const PASSWORD = 'postgres-password'
const ROOT = { uid: 0, gid: 0, name: 'root' }

/** A PostgreSQL of the installed programs, with passwords and on a port, beside the one of the server. */
export async function aPostgres(): Promise<Broker> {
  const [folder, port] = [await aFolder('postgres'), await aFreePort()]
  const { initdb, postgres } = findBinaries()
  const place = placeOf(folder)
  const account = process.getuid?.() === 0 ? makerFor(ROOT_WITHOUT_NAME) : undefined
  const [data, secret] = [join(folder, 'cluster'), join(folder, 'secret')]
  const command = (file: string, args: readonly string[]) => commandFor({ file, args }, { ...place, account })
  const server = await runServer({
    folder,
    port,
    prepare: async () => {
      writeFileSync(secret, PASSWORD)
      if (account !== undefined) for (const path of [folder, secret]) chownSync(path, account.uid, account.gid)
      await run(
        command(initdb, [
          '-D',
          data,
          '-U',
          'app',
          '--auth=scram-sha-256',
          `--pwfile=${secret}`,
          '-E',
          'UTF8',
          '--no-sync',
        ]),
        { place },
      )
    },
    program: () => {
      const { file, args, options } = command(postgres, [
        '-D',
        data,
        '-p',
        String(port),
        '-h',
        '127.0.0.1',
        '-k',
        '',
        '-c',
        'max_connections=50',
        '-c',
        'shared_buffers=16MB',
      ])
      return { file, args, options }
    },
    ready: () =>
      asApp(port, (client) =>
        client.query(
          'create table if not exists events (id text primary key, dataset text, received_at timestamptz, body json)',
        ),
      ),
  })
  return {
    ...server,
    name: 'postgres',
    members: {
      url: `postgres://127.0.0.1:${port}/postgres`,
      config: { kind: 'postgres', table: 'events', encryption: 'off' },
      auth: { kind: 'basic', username: 'app', password: PASSWORD },
    },
    stored: () =>
      asApp(port, async (client) => {
        const { rows } = await client.query<StoredEvent>(
          'select id, body::text as body from events order by received_at, id',
        )
        return rows
      }),
  }
}

const ROOT_WITHOUT_NAME = { ...ROOT, name: undefined }

async function asApp<T>(port: number, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ host: '127.0.0.1', port, database: 'postgres', user: 'app', password: PASSWORD })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
