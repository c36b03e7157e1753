import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before } from 'node:test'
import { Postroad, type Client } from '@postroad/sdk'
import {
  aDestination,
  aFolder,
  run,
  runProcess,
  startServer,
  stopServers,
  type Environment,
  type Started,
} from './command-line.ts'

type Folder = Awaited<ReturnType<typeof aFolder>>
type Receiver = Awaited<ReturnType<typeof aDestination>>
type Made = { readonly folder: Folder; readonly server: Started; readonly good: Receiver; readonly bad: Receiver }

export { refused } from './command-line.ts'

/** A server that `postroad start` started, and two receivers: one answers 200, and one answers 500. */
class ServerStage {
  #made: Made | undefined
  #token: { readonly key: string; readonly client: Client } | undefined

  async begin(): Promise<void> {
    const folder = await aFolder()
    const server = await startServer(join(folder.path, 'data'))
    this.#made = {
      folder,
      server,
      good: await aDestination(200, 'thanks'),
      bad: await aDestination(500, '\u001b[31mno room\n'),
    }
    await this.takeKey()
  }

  async end(): Promise<void> {
    this.#made?.good.stop()
    this.#made?.bad.stop()
    await stopServers()
    await this.#made?.folder.remove()
  }

  get folder(): Folder {
    return made(this.#made).folder
  }

  get server(): Started {
    return made(this.#made).server
  }

  get good(): Receiver {
    return made(this.#made).good
  }

  get bad(): Receiver {
    return made(this.#made).bad
  }

  get apiKey(): string {
    return made(this.#token).key
  }

  get client(): Client {
    return made(this.#token).client
  }

  /** Stops the server and starts it again, on the same port and with the same data. */
  async restart(): Promise<void> {
    const { server, folder, ...rest } = made(this.#made)
    server.signal('SIGTERM')
    await server.ended
    const { port } = new URL(server.baseUrl)
    this.#made = { ...rest, folder, server: await startServer(join(folder.path, 'data'), { PORT: port }) }
  }

  /** A new key of this role, as the API returns it. A person who signed in by a link creates it. */
  async keyOf(role: 'viewer' | 'developer'): Promise<string> {
    const { stdout } = await runProcess(['sign-in-link', '--json'], this.local())
    const link = /#t=([^"]+)/.exec(stdout)?.[1] ?? ''
    const headers = { 'X-Requested-With': 'test', 'Content-Type': 'application/json' }
    const api = `${this.server.baseUrl}/admin/api`
    const signedIn = await fetch(`${api}/session`, { method: 'POST', headers, body: JSON.stringify({ token: link }) })
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const body = JSON.stringify({ name: role, role })
    return (await fetch(`${api}/api-keys`, { method: 'POST', headers: { ...headers, cookie }, body })).text()
  }

  /** From then on the commands and the client use the key of the server's machine. */
  async takeKey(): Promise<void> {
    const key = JSON.parse((await runProcess(['bootstrap', '--json'], this.local())).stdout).api_key
    this.#token = { key, client: new Postroad({ url: this.server.baseUrl, token: key }) }
  }

  /** The environment on the server's machine. */
  readonly local = (): Environment => ({
    DATA_DIR: join(this.folder.path, 'data'),
    PORT: new URL(this.server.baseUrl).port,
  })

  /** The environment on any other machine. */
  readonly remote = (env: Environment = {}): Environment => ({
    POSTROAD_URL: this.server.baseUrl,
    SERVICE_TOKEN: this.apiKey,
    ...env,
  })

  /** Runs a command that must succeed, and returns the text that it printed. */
  readonly ok = async (args: readonly string[], env: Environment = this.remote(), input = ''): Promise<string> => {
    const { code, stdout, stderr } = await run(args, env, input)
    assert.equal(stderr, '')
    assert.equal(code, 0)
    for (const line of stdout.split('\n'))
      if (!line.startsWith('{')) assert.ok(line.length <= 80, `wider than 80: ${line}`)
    return stdout
  }

  readonly json = async (args: readonly string[], env?: Environment) =>
    JSON.parse(await this.ok([...args, '--json'], env))
  readonly quiet = async (args: readonly string[]) => (await this.ok([...args, '--quiet'])).trim()

  /** Waits until a delivery of the event reaches this state. */
  readonly delivered = async (event: string, state: 'delivered' | 'retrying'): Promise<string> => {
    for (let turn = 0; turn < 200; turn += 1) {
      const { deliveries } = await this.client.deliveries.list({ record_id: event, state })
      if (deliveries[0] !== undefined) return deliveries[0].id
      await sleep(25)
    }
    throw new Error(`No delivery of ${event} is ${state}.`)
  }
}

const made = <T>(thing: T | undefined): T => thing ?? assert.fail('The stage is made before the tests.')

/** The stage that all tests of a file share: it starts before them and stops after them. */
export function onServer(): ServerStage {
  const stage = new ServerStage()
  before(() => stage.begin())
  after(() => stage.end())
  return stage
}
