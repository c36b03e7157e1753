import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Client } from '@postroad/sdk'
import { EXIT, Failure } from './failure.ts'
import { io } from './io.ts'
import { localApiKey } from './server.ts'

export type ConnectionOptions = { readonly url?: string; readonly project?: string }
export type Connection = { readonly client: Client; readonly baseUrl: string }

/** A closed port fails at once. A busy server may need this long. */
const HEALTH_TIMEOUT_MS = 15_000

/** A client for the server and the project in the options and the environment. */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const baseUrl = baseUrlOf(options)
  const given = setting('SERVICE_TOKEN', 'POSTROAD_TOKEN') ?? ''
  // The schemas take a quarter of a second to load. `start` and `--help` do without them, and the local key is created in the meantime.
  const [token, { Postroad }] = await Promise.all([
    given === '' ? tokenOfThisMachine(baseUrl) : given,
    import('@postroad/sdk'),
  ])
  const client = new Postroad({ url: baseUrl, token })
  const project = await projectOf(client, { named: options.project, ownKey: given !== '' })
  return { client: project === undefined ? client : new Postroad({ url: baseUrl, token, project }), baseUrl }
}

/** The first of these variables that has a value. The help names the first one; the others are aliases. */
function setting(...names: readonly string[]): string | undefined {
  return names.map((name) => io().env[name]?.trim()).find((value) => value !== undefined && value !== '')
}

/** `--url`, POSTROAD_URL or its alias SERVICE_URL, or the address where a server with this environment listens. */
export function baseUrlOf({ url }: ConnectionOptions): string {
  const given = url ?? setting('POSTROAD_URL', 'SERVICE_URL')
  if (given === undefined || given === '') return ownUrl()
  const parsed = URL.canParse(given) ? new URL(given) : undefined
  if (parsed !== undefined && /^https?:$/.test(parsed.protocol)) return given.replace(/\/+$/, '')
  throw new Failure(`"${given}" is not the address of a server. Write it as https://hooks.example.com.`, EXIT.usage)
}

function ownUrl(): string {
  const host = io().env['HOST'] ?? '127.0.0.1'
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${io().env['PORT'] ?? '4680'}`
}

/** The local key never leaves this machine, so every other address needs a token. */
async function tokenOfThisMachine(baseUrl: string): Promise<string> {
  const { hostname } = new URL(baseUrl)
  const here =
    baseUrl === ownUrl() || hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  if (!here) throw new Failure(`Set SERVICE_TOKEN to an API key of ${baseUrl} (hk_…).`, EXIT.refused)
  if (!(await answers(baseUrl))) {
    throw new Failure(
      `No Postroad server answers at ${baseUrl}. Start it with "npm start", or set --url or POSTROAD_URL to its address.`,
    )
  }
  const dataDir = resolve(io().env['DATA_DIR'] ?? './data')
  if (!existsSync(dataDir) && (io().env['DATABASE_URL'] ?? '') === '') {
    throw new Failure(
      `The folder ${dataDir} does not exist. Set SERVICE_TOKEN to an API key (hk_…), or DATA_DIR to the folder of the server.`,
      EXIT.refused,
    )
  }
  return localApiKey()
}

async function answers(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
    return response.ok
  } catch {
    return false
  }
}

/** Returns an id as it is, and looks a slug up. Without a name: the project of a key that is for one project. */
async function projectOf(
  client: Client,
  { named, ownKey }: { named: string | undefined; ownKey: boolean },
): Promise<string | undefined> {
  if (named === undefined) return ownKey ? ((await client.me.get()).api_key?.project_id ?? undefined) : undefined
  if (named.startsWith('prj_')) return named
  for await (const project of client.projects.list({ limit: 200 })) if (project.slug === named) return project.id
  throw new Failure(`There is no project "${named}" here. Name it by its slug or its id (prj_…).`, EXIT.notFound)
}
