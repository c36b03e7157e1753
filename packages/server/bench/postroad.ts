import { execFile, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { DatabaseTarget } from '../src/platform/db.ts'
import { freshBundle, makeBundle } from '../build/fresh.ts'
import { superuserOf } from '../test/stage/superuser.ts'
import { nowMs } from './statistics.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** The real server as a separate process, from the bundle that `npm start` runs, on an embedded PostgreSQL with its default settings. */
export type Postroad = {
  readonly pid: number
  readonly port: number
  /** From the start of the process to the line with its address. */
  readonly startMs: number
  /** As the superuser, who may create other databases and read every table. */
  readonly target: DatabaseTarget
  stop(): Promise<void>
}

export type ServerOptions = {
  readonly folder: string
  readonly roles?: string
  /** Settings in addition to the defaults that the bench measures. */
  readonly settings?: Readonly<Record<string, string>>
  /** A folder for Node's CPU profile of this run. */
  readonly profile?: string | undefined
}

export async function startPostroad({ folder, roles, settings, profile }: ServerOptions): Promise<Postroad> {
  const program = freshBundle() ?? (await makeBundle())
  const startedAt = nowMs()
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const child = spawn(process.execPath, [...profiling, program, 'serve'], {
    env: { ...environmentOf(folder), ...settings, ...(roles === undefined ? {} : { ROLES: roles }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const listening = Promise.withResolvers<number>()
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    const port = /Console +http:\/\/127\.0\.0\.1:(\d+)\//.exec(said)?.[1]
    if (port !== undefined) listening.resolve(Number(port))
  })
  void gone.then(() => listening.reject(new Error('The server ended before it listened.')))
  const port = await listening.promise
  const startMs = nowMs() - startedAt
  return {
    pid: child.pid ?? 0,
    port,
    startMs,
    target: await superuserOf(folder),
    stop: () => {
      child.kill('SIGTERM')
      return gone
    },
  }
}

/** Only the variables of the caller's environment that Node itself needs, because the bench measures the defaults. */
function environmentOf(folder: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'warn' }
}

export type Admin = <Output>(method: string, path: string, body?: unknown) => Promise<Output>

/** The admin API of a running server, with the key that `bootstrap` returns. */
export async function adminOf(server: Postroad, folder: string): Promise<Admin> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'bootstrap', '--json'], {
    env: environmentOf(folder),
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the command prints this shape
  const { api_key } = JSON.parse(stdout) as { api_key: string }
  return async <Output>(method: string, path: string, body?: unknown) => {
    // oxlint-disable-next-line house/no-ambient -- a client of the real server
    const response = await fetch(`http://127.0.0.1:${server.port}/admin/api/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${api_key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the members it reads of a 2xx answer
    return JSON.parse(text) as Output
  }
}

/** A link that signs the owner in once. */
export async function signInUrlOf(server: Postroad, folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'sign-in-link', '--json'], {
    env: environmentOf(folder),
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the command prints this shape
  const url = new URL((JSON.parse(stdout) as { sign_in_url: string }).sign_in_url)
  url.host = `127.0.0.1:${server.port}`
  return url.href
}

/** Creates an endpoint that checks the code host's signature. Returns its path. */
export async function makeEndpoint(admin: Admin, name: string, secret: string): Promise<string> {
  const { webhook } = await admin<{ webhook: { public_path: string } }>('POST', 'webhooks', {
    name,
    dataset: name,
    verification: { scheme: 'code_host', secret },
  })
  return webhook.public_path
}

/**
 * Creates a destination for a dataset, by default the one with its own name. It signs and stores attempts like every
 * destination.
 */
export async function makeDestination(
  admin: Admin,
  at: { name: string; dataset?: string; port: number; maxInFlight: number; timeoutMs?: number },
): Promise<void> {
  const { name, dataset = name, port, maxInFlight, timeoutMs } = at
  const timeout = timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }
  await admin('POST', 'destinations', {
    name,
    url: `http://127.0.0.1:${port}/`,
    datasets: [dataset],
    max_in_flight: maxInFlight,
    ...timeout,
  })
}
