import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeId } from '@postroad/contract'
import { openDatabase, type Database } from '../src/platform/db.ts'
import { DATABASE, LOGIN } from '../src/platform/postgres/access.ts'
import { placeOf, PORT as POSTGRES_PORT } from '../src/platform/postgres/place.ts'
import { exchange, type Reply } from './http.ts'
import { layData } from './installed-data.ts'
import { openNameServer, type NameServer } from './name-server.ts'
import { assertPlanted } from './planted.ts'
import { postgresProcess, type PostgresProcess } from './postgres-process.ts'
import { runCommand, serverProcess, type ServerProcess } from './server-process.ts'

/** The resources of a scenario: its own server on its own folder and port, and access to them. */
export type Stage = {
  /** For ledgers and logs. */
  readonly folder: string
  readonly logFile: string
  /** The folder of its PostgreSQL and its key file. */
  readonly dataDir: string
  readonly server: ServerProcess
  readonly postgres: PostgresProcess
  /** The name server of the server; undefined: the machine's. */
  readonly names: NameServer | undefined
  readonly workspaceId: string
  /** The URL of the first endpoint. */
  readonly endpoint: string
  /** One call of the admin API, parsed. Rejects unless the answer is 2xx. */
  admin(method: string, path: string, body?: object): Promise<unknown>
  /** Waits until the server reports that it is ready. Rejects when that takes longer than 30 s. */
  ready(): Promise<void>
  /** A separate connection to the server's database, while PostgreSQL runs. */
  openDatabase(): Database
  /** Runs one of the server's commands, to its end or until it is killed after a time. */
  command(args: readonly string[], killAfterMs?: number): ReturnType<typeof runCommand>
}

export type StageOptions = {
  readonly plant: string | undefined
  readonly signal: AbortSignal
  /** Does not remove the folder, so that people can inspect it. */
  readonly keep: boolean
  /** How many processes share the port. Defaults to 1. */
  readonly processes?: number
  /** Gives the server the scenario's own name server. */
  readonly hasNames?: boolean
  /** Settings of the server in addition to those of the stage. */
  readonly env?: Readonly<Record<string, string>>
}

const READY_MS = 120_000
const CALL_MS = 20_000

/** Prepares a stage, plays on it and cleans it up: no process, folder or port is left, whatever `play` does. */
export async function onStage<T>(options: StageOptions, play: (stage: Stage) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-chaos-'))
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  const logFile = join(folder, 'server.log')
  const port = await freePort()
  const env = serverEnvironment({
    DATA_DIR: dataDir,
    PORT: String(port),
    PROCESSES: String(options.processes ?? 1),
    ADMIN_REQUESTS_MAX: '0',
    ...options.env,
  })
  const names = options.hasNames === true ? await openNameServer() : undefined
  const server = serverProcess({ env, logFile, plant: options.plant, nameServer: names?.address })
  const postgres = postgresProcess(dataDir)
  const agent = new Agent({ keepAlive: true })
  const lastResort = (): void => {
    server.killNow()
    postgres.stopNow()
    if (!options.keep) removeNow(folder)
  }
  process.once('exit', lastResort)
  try {
    return await play(
      await setStage({
        folder,
        dataDir,
        logFile,
        server,
        postgres,
        names,
        agent,
        env,
        signal: options.signal,
        plant: options.plant,
      }),
    )
  } finally {
    await server.stop()
    await postgres.stop()
    await names?.stop()
    agent.destroy()
    if (!options.keep) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    process.off('exit', lastResort)
  }
}

/** Removes a folder in which processes are just ending, synchronously. */
function removeNow(folder: string): void {
  for (let tries = 0; tries < 30 && existsSync(folder); tries += 1) {
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    }
  }
}

type Parts = Pick<Stage, 'folder' | 'logFile' | 'dataDir' | 'server' | 'postgres' | 'names'> & {
  readonly agent: Agent
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly plant: string | undefined
}

async function setStage({
  folder,
  dataDir,
  logFile,
  server,
  postgres,
  names,
  agent,
  env,
  signal,
  plant,
}: Parts): Promise<Stage> {
  const baseUrl = `http://127.0.0.1:${env['PORT']}`
  const ready = async (): Promise<void> => {
    const end = performance.now() + READY_MS
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one question at a time
      const reply = await exchange({ method: 'GET', url: `${baseUrl}/readyz`, agent, timeoutMs: 1_000 })
      if (typeof reply === 'object' && reply.status === 200) return
      if (performance.now() > end)
        throw new Error(`The server was not ready within ${READY_MS / 1_000} s; its log is ${logFile}`)
      // oxlint-disable-next-line no-await-in-loop -- as above
      await sleep(20, undefined, { signal })
    }
  }
  const installed = await layData(dataDir, env)
  server.start()
  await ready()
  if (plant !== undefined) assertPlanted(plant, logFile)
  const headers = { authorization: `Bearer ${installed.api_key}`, 'content-type': 'application/json' }
  return {
    folder,
    logFile,
    dataDir,
    server,
    postgres,
    names,
    ready,
    workspaceId: decodeId('workspace', installed.workspace.id) ?? '',
    endpoint: `${baseUrl}${new URL(installed.webhook.public_url).pathname}`,
    admin: async (method, path, body) => {
      const url = `${baseUrl}/admin/api/${path}`
      const reply = await exchange({
        method,
        url,
        headers,
        agent,
        timeoutMs: CALL_MS,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return parsed(reply, `${method} ${path}`)
    },
    openDatabase: () =>
      openDatabase({
        target: { host: placeOf(dataDir).socketDir, port: POSTGRES_PORT, database: DATABASE, username: LOGIN },
        connectionsMax: 1,
        applicationName: 'postroad chaos',
        statementTimeoutMs: 120_000,
      }),
    command: (args, killAfterMs) => runCommand(args, env, killAfterMs),
  }
}

/** A closed set, so that the caller's DATABASE_URL cannot become the server's. */
function serverEnvironment(own: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { PATH = '', HOME = '/', NODE_COMPILE_CACHE } = process.env
  const compiled = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  return { PATH, HOME, ...compiled, HOST: '127.0.0.1', LOG_FORMAT: 'json', LOG_LEVEL: 'info', ...own }
}

function parsed(reply: Reply | 'broken' | 'hung', call: string): unknown {
  if (typeof reply === 'string') throw new Error(`${call}: the connection was ${reply}`)
  if (reply.status >= 300) throw new Error(`${call} answered ${reply.status}: ${reply.body.slice(0, 500)}`)
  return JSON.parse(reply.body)
}

/** A port that was free a moment ago. The server uses it in all its lives, because its URL must not change. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
