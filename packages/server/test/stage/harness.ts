import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, type App, type AppOptions } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createCipher } from '../../src/platform/cipher.ts'
import { testClock, type TestClock } from '../../src/platform/clock.ts'
import { openDatabase, sql, type DatabaseTarget } from '../../src/platform/db.ts'
import { openKeyFile } from '../../src/platform/key-file.ts'
import { createLog, type Log } from '../../src/platform/log.ts'
import type { LoopName } from '../../src/workers/loops.ts'
import { bootstrap, install, type Bootstrapped } from '../../src/resources/operate/installation/index.ts'
import type { Storage } from '../../src/storage.ts'
import { inDatabase, type TestTarget } from './global-setup.ts'

/** A real server on a free port, with a separate database and a clock that the test sets. */
export type World = {
  readonly app: App
  readonly baseUrl: string
  /** Its address, whatever PUBLIC_URL is. */
  readonly address: string
  readonly clock: TestClock
  readonly installed: Bootstrapped
  /** The URL of the first endpoint. */
  readonly endpoint: string
  readonly storage: TestStorage
  /** A request to the admin API with the bootstrap key; returns status, headers and the parsed body. */
  admin(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Runs these background loops one after the other, each until it finds nothing due at the time of the clock, and what follows. */
  run(...names: readonly LoopName[]): Promise<void>
  /**
   * Resolves when no process on this database has anything to do at the time of its clock: nothing is under way, and no started
   * loop finds anything due (src/app/idle.ts).
   */
  idle(): Promise<void>
  /** Resolves when nothing is under way, and runs no loop before the clock does: for tests of the pace of a loop. */
  quiet(): Promise<void>
  stop(): Promise<void>
}

/** `secretKey` is the SECRET_KEY for a process beside it; `operator` is the login for direct access to the database. */
export type TestStorage = Storage & {
  readonly secretKey: string
  readonly operator: DatabaseTarget
  /** The processes of the test on this database. */
  readonly nodes: Set<Node>
  /** The background loops of the first of them, which the others also run unless they name theirs. */
  readonly loops: AppOptions['loops']
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: any } // oxlint-disable-line typescript/no-explicit-any -- tests read answers as a client without types would

export type WorldOptions = {
  readonly env?: Record<string, string | undefined>
  readonly commit?: AppOptions['commit']
  /** Another client for outgoing requests, such as one that trusts an authority of the test. */
  readonly outbound?: AppOptions['outbound']
  /** Asks a name server of the test. */
  readonly resolver?: AppOptions['resolver']
  /** Other limits for work in threads. */
  readonly heavyLimits?: AppOptions['heavyLimits']
  /** The patience of the server with slow senders. */
  readonly patience?: AppOptions['patience']
  /** The target of the log; stderr by default. */
  readonly log?: Log
  /** The background loops that the clock runs. By default, those of the node `beside`, or none. */
  readonly loops?: AppOptions['loops']
  /** The time of the clock, in milliseconds since 1970. */
  readonly now?: number
  /** The key file of this folder seals its secrets, as with the embedded database. */
  readonly keyFolder?: string
  /**
   * Makes a second node on the database of this one, which remains its owner; without it the world creates a separate
   * database.
   */
  readonly beside?: World
}

const START = Date.parse('2026-01-15T12:00:00Z')

export async function aWorld(options: WorldOptions = {}): Promise<World> {
  const storage = options.beside?.storage ?? (await aStorage(options))
  const loops = options.loops ?? storage.loops ?? []
  const clock = testClock(options.now ?? START)
  const config = readConfig({
    PORT: '0',
    ADMIN_REQUESTS_MAX: '0',
    DATA_DIR: join(tmpdir(), 'postroad-test-data'),
    OUTBOUND_ALLOW: '127.0.0.0/8,::1/128',
    LOG_LEVEL: process.env['TEST_LOG'] ?? 'error',
    ...options.env,
  })
  const created = createApp({
    config,
    storage,
    clock,
    log: options.log ?? createLog({ level: config.LOG_LEVEL, format: 'text' }),
    ...(options.commit === undefined ? {} : { commit: options.commit }),
    outbound: options.outbound,
    resolver: options.resolver,
    heavyLimits: options.heavyLimits,
    ...(options.patience === undefined ? {} : { patience: options.patience }),
    loops,
    // The clock of a test does not move by itself, so results would wait forever for others.
    deliverLimits: { settleWaitMs: 0 },
  })
  const app: App = {
    ...created,
    stop: (patienceMs) => {
      storage.nodes.delete(node)
      return created.stop(patienceMs)
    },
  }
  const node: Node = { app, clock }
  storage.nodes.add(node)
  const { port, baseUrl } = await app.start()
  const { beside } = options
  const installed = await (beside === undefined ? installedFirst(app) : installedBeside(beside, { app, baseUrl }))
  const address = `http://127.0.0.1:${port}`
  const admin = adminAt(reachedAt(options, { baseUrl, address }), installed.api_key)
  return {
    app,
    baseUrl,
    address,
    clock,
    installed,
    endpoint: installed.webhook.public_url,
    storage,
    admin,
    run: async (...names) => {
      for (const name of names) await app.run(name)
      await restOf(storage, (one) => one.whenQuiet())
    },
    idle: () => restOf(storage, (one) => one.whenIdle()),
    quiet: () => restOf(storage, (one) => one.whenQuiet()),
    stop: async () => {
      await app.stop()
      if (options.beside === undefined) await storage.stop()
    },
  }
}

type Node = { readonly app: App; readonly clock: TestClock }

/** A public URL leads nowhere in a test. */
const reachedAt = ({ env }: WorldOptions, { baseUrl, address }: Pick<World, 'baseUrl' | 'address'>): string =>
  env?.['PUBLIC_URL'] === undefined ? baseUrl : address

/** Requests to the admin API of a server, with an API key. */
const adminAt =
  (url: string, apiKey: string): World['admin'] =>
  // oxlint-disable-next-line max-params -- tests read as requests: method, path, body, and headers where they matter
  async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}/admin/api/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

/** In the second round, every process hears what the others did in the first one. */
async function restOf({ nodes }: TestStorage, rest: (app: App) => Promise<unknown>): Promise<void> {
  for (let round = 0; round < Math.min(nodes.size, 2); round += 1)
    for (const { app, clock } of nodes) {
      clock.advance(0)
      await rest(app)
    }
}

/** Tests move the clock by months, so their key never expires. operate/bootstrap.test.ts tests the expiry of the real one. */
async function installedFirst(app: App): Promise<Bootstrapped> {
  const installed = await bootstrap(app.deps)
  await app.deps.database.run(sql`update api_keys set expires_at = null where origin = 'bootstrap'`)
  return installed
}

/** A second bootstrap would revoke the key of the first. */
async function installedBeside(
  beside: World,
  { app, baseUrl }: { readonly app: App; readonly baseUrl: string },
): Promise<Bootstrapped> {
  return {
    ...(await install(app.deps)),
    api_key: beside.installed.api_key,
    sign_in_url: beside.installed.sign_in_url.replace(beside.baseUrl, baseUrl),
  }
}

/** A separate database with a separate key; a stop drops it. */
async function aStorage({ keyFolder, loops }: WorldOptions): Promise<TestStorage> {
  const own = await aDatabase()
  const key = randomBytes(32)
  const keyFile = keyFolder === undefined ? undefined : openKeyFile(keyFolder)
  return {
    target: own.target,
    operator: own.operator,
    cipher: createCipher(keyFile?.keys ?? [key]),
    ...(keyFile === undefined ? {} : { keyFile }),
    secretKey: key.toString('base64'),
    nodes: new Set(),
    loops,
    stop: () => own.drop(),
  }
}

/** A new database made from the migrated template, for a server and for direct access by the test. */
export async function aDatabase(): Promise<{
  target: DatabaseTarget
  operator: DatabaseTarget
  drop(): Promise<void>
}> {
  const text = process.env['POSTROAD_TEST_TARGET']
  if (text === undefined) throw new Error('Run tests with `npm test`: the test database is made by its global setup.')
  const { operator: root, role } = JSON.parse(text) as TestTarget
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const run = async (statement: string): Promise<void> => {
    const database = openDatabase({
      target: root,
      connectionsMax: 1,
      applicationName: 'test',
      statementTimeoutMs: 60_000,
    })
    try {
      await database.run({ strings: [statement], values: [] })
    } finally {
      await database.close()
    }
  }
  await run(`create database ${name} template postroad_template`)
  const operator = inDatabase(root, name)
  return {
    target: role === undefined ? operator : { ...operator, role },
    operator,
    drop: () => run(`drop database if exists ${name} with (force)`),
  }
}

export type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }

export type Sink = {
  readonly url: string
  readonly received: Received[]
  /** The next answers of the receiver; a function gets the request and the number of requests before it. */
  answer(with_: Reply | ((request: Received, index: number) => Reply)): void
  /**
   * Resolves once `count` requests have arrived; gives up when they do not, so a test that cannot succeed fails instead
   * of hanging.
   */
  until(count: number): Promise<readonly Received[]>
  stop(): Promise<void>
}

export type Reply = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }

function thanks(_request: Received, _index: number): Reply {
  return { status: 200, body: 'ok' }
}

const PATIENCE_MS = 60_000

/** A receiver on a free port of 127.0.0.1 that records its requests. */
export async function aSink(): Promise<Sink> {
  const received: Received[] = []
  const waiting = new Set<() => void>()
  let reply = thanks
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() }
      const { status, headers = {}, body = '' } = reply(one, received.length)
      received.push(one)
      response.writeHead(status, headers).end(body)
      for (const look of waiting) look()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    answer: (with_) => {
      reply = typeof with_ === 'function' ? with_ : () => with_
    },
    until: (count) =>
      new Promise((resolve, reject) => {
        const patience = setTimeout(
          () => reject(new Error(`${received.length} requests came, not ${count}.`)),
          PATIENCE_MS,
        )
        const look = (): void => {
          if (received.length < count) return
          clearTimeout(patience)
          waiting.delete(look)
          resolve(received)
        }
        waiting.add(look)
        look()
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * Looks until there is a value, for effects outside of this process: a foreign server, or another process. `what` says what
 * the test waits for. Effects inside of this process have happened once the world is idle. Gives up after a while, so a test
 * that cannot succeed fails instead of hanging.
 */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>, looks = LOOKS): Promise<T> {
  for (let turn = 0; turn < looks; turn += 1) {
    const seen = await look()
    if (seen !== undefined) return seen
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`This did not happen: ${what}.`)
}

const LOOKS = 2_000
