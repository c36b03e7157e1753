import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Postroad, type Client } from '@postroad/sdk'
import { signInLink } from '../../server/src/resources/operate/installation/index.ts'
import { settingsOf } from '../../server/test/stage/command.ts'
import { behind, signedIn } from '../../server/test/stage/fixtures.ts'
import type { World } from '../../server/test/stage/harness.ts'
import { whileTimePasses } from '../../server/test/stage/meanwhile.ts'
import { aKeyOf, aWorkspace, theWorkspace, type Member } from '../../server/test/stage/people.ts'
import { aDestination, aFolder, run, runProcess, type Environment } from './command-line.ts'
import { aServer, enterWorld, leaveWorld } from './shared-world.ts'

type Folder = Awaited<ReturnType<typeof aFolder>>
type Receiver = Awaited<ReturnType<typeof aDestination>>
type Workspace = { readonly owner: Member; readonly key: string; readonly endpoint: string }
type Made = Workspace & {
  readonly world: World
  readonly client: Client
  readonly folder: Folder
  readonly good: Receiver
  readonly bad: Receiver
}

export { refused } from './command-line.ts'

let workspaces = 0

/** A workspace with the same contents as the one that a server creates at its first start. */
async function newWorkspace(world: World): Promise<Workspace> {
  workspaces += 1
  const database = behind(world)
  try {
    const owner = await aWorkspace(world, database, `cli${workspaces}`)
    const { key } = await aKeyOf(world, database, owner)
    const client = new Postroad({ url: world.baseUrl, token: key })
    const { webhook } = await client.webhooks.create({ name: 'First endpoint', slug: 'first', dataset: 'events' })
    return { owner, key, endpoint: webhook.public_url }
  } finally {
    await database.close()
  }
}

async function firstWorkspace(world: World): Promise<Workspace> {
  const database = behind(world)
  try {
    return { owner: await theWorkspace(database), key: world.installed.api_key, endpoint: world.endpoint }
  } finally {
    await database.close()
  }
}

/** A workspace on a server, and two receivers: one answers 200, and one answers 500. */
class ServerStage {
  #made: Made | undefined
  readonly #isAlone: boolean

  constructor(isAlone: boolean) {
    this.#isAlone = isAlone
  }

  async begin(): Promise<void> {
    const world = await (this.#isAlone ? aServer() : enterWorld())
    const workspace = await (this.#isAlone ? firstWorkspace(world) : newWorkspace(world))
    this.#made = {
      ...workspace,
      world,
      client: new Postroad({ url: world.baseUrl, token: workspace.key }),
      folder: await aFolder(),
      good: await aDestination(200, 'thanks'),
      bad: await aDestination(500, '\u001b[31mno room\n'),
    }
  }

  async end(): Promise<void> {
    this.#made?.good.stop()
    this.#made?.bad.stop()
    if (this.#isAlone) await this.#made?.world.stop()
    else leaveWorld()
    await this.#made?.folder.remove()
  }

  get #is(): Made {
    return this.#made ?? assert.fail('The stage is made before the tests.')
  }

  get folder(): Folder {
    return this.#is.folder
  }

  get baseUrl(): string {
    return this.#is.world.baseUrl
  }

  /** The first endpoint of the workspace. */
  get endpoint(): string {
    return this.#is.endpoint
  }

  get good(): Receiver {
    return this.#is.good
  }

  get bad(): Receiver {
    return this.#is.bad
  }

  get apiKey(): string {
    return this.#is.key
  }

  get client(): Client {
    return this.#is.client
  }

  /** A new key of this role. */
  async keyOf(role: 'viewer' | 'developer'): Promise<{ readonly id: string; readonly key: string }> {
    const { world, owner } = this.#is
    const database = behind(world)
    try {
      return await aKeyOf(world, database, { ...owner, role })
    } finally {
      await database.close()
    }
  }

  /** The headers of the owner of the workspace, in a browser. */
  owner(): Promise<Readonly<Record<string, string>>> {
    return signedIn(this.#is.world, this.#is.owner)
  }

  /** The link that `postroad sign-in-link` prints: it signs in the owner of the first workspace. */
  signInLink(): Promise<string> {
    return signInLink(this.#is.world.app.deps)
  }

  /** From then on the commands and the client use a new key, which a command on the server's machine creates. */
  async takeKey(): Promise<void> {
    const key = JSON.parse((await runProcess(['bootstrap', '--json'], this.local())).stdout).api_key
    this.#made = { ...this.#is, key, client: new Postroad({ url: this.baseUrl, token: key }) }
  }

  /** The environment on the server's machine. */
  readonly local = (): Environment => ({
    ...settingsOf(this.#is.world.storage.operator),
    SECRET_KEY: this.#is.world.storage.secretKey,
    PORT: new URL(this.baseUrl).port,
  })

  /** The environment on any other machine. */
  readonly remote = (env: Environment = {}): Environment => ({
    POSTROAD_URL: this.baseUrl,
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

  /** Moves the clock of the server. */
  advance(ms: number): void {
    this.#is.world.clock.advance(ms)
  }

  /** Moves the clock of the server while work is under way that waits for a loop of the server. */
  readonly whileTimePasses = <T>(work: Promise<T>): Promise<T> => whileTimePasses([this.#is.world], work)

  /** Resolves when the server has nothing to do at the time of its clock. */
  idle(): Promise<void> {
    return this.#is.world.idle()
  }

  /** The delivery of the event, which is in this state when the server has nothing else to do. */
  readonly delivered = async (event: string, state: 'delivered' | 'retrying'): Promise<string> => {
    await this.idle()
    const { deliveries } = await this.client.deliveries.list({ record_id: event, state })
    return deliveries[0]?.id ?? assert.fail(`No delivery of ${event} is ${state}.`)
  }
}

/**
 * The stage that all tests of a file share: it starts before them and stops after them. `alone`: the file has the only
 * workspace of a separate server.
 */
export function onServer(with_: 'others' | 'alone' = 'others'): ServerStage {
  const stage = new ServerStage(with_ === 'alone')
  before(() => stage.begin())
  after(() => stage.end())
  return stage
}
