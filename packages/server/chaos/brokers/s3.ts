import { mkdirSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aFolder, aFreePort, programOf, runServer, type Broker, type StoredEvent } from './process.ts'

const BUCKET = 'events'
const SECRET = 'store-secret-key'

/** No package of Debian has this server, so VERSITYGW names the program: github.com/versity/versitygw. */
export const s3Server = (): string | undefined => programOf(['/usr/bin/versitygw'], 'VERSITYGW')

/** An S3 server over a folder. */
export async function anS3(file: string): Promise<Broker & { readonly folder: string }> {
  const [folder, port] = [await aFolder('s3'), await aFreePort()]
  const root = join(folder, 'data')
  mkdirSync(join(root, BUCKET), { recursive: true })
  const args = ['--port', `127.0.0.1:${port}`, '--access', 'app', '--secret', SECRET, '--region', 'us-east-1']
  const server = await runServer({
    folder,
    port,
    program: () => ({ file, args: [...args, 'posix', root] }),
    ready: () => fetch(`http://127.0.0.1:${port}/`),
  })
  return {
    ...server,
    name: 's3',
    members: {
      url: `http://127.0.0.1:${port}`,
      config: { kind: 's3', bucket: BUCKET, region: 'us-east-1', linger_ms: 200 },
      auth: { kind: 'aws', access_key_id: 'app', secret_access_key: SECRET },
    },
    stored: () => Promise.resolve(eventsIn(join(root, BUCKET))),
  }
}

/** The lines of all objects. */
function eventsIn(bucket: string): readonly StoredEvent[] {
  return globSync(join(bucket, '**/*.ndjson')).flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((body) => ({ id: idIn(body), body })),
  )
}

/** Every body of these runs is an envelope. */
const idIn = (body: string): string => /"id":"([^"]+)"/.exec(body)?.[1] ?? ''
