import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { aFolder, runProcess, startServer, stopServers, type Environment, type Started } from './command-line.ts'

/** A server in a separate process, as `postroad start` runs it, which a test can restart. */
class ServerProcess {
  #folder: Awaited<ReturnType<typeof aFolder>> | undefined
  #server: Started | undefined
  #key = ''

  async begin(): Promise<void> {
    this.#folder = await aFolder()
    this.#server = await startServer(this.#dataDir)
    const local = { DATA_DIR: this.#dataDir, PORT: new URL(this.server.baseUrl).port }
    this.#key = JSON.parse((await runProcess(['bootstrap', '--json'], local)).stdout).api_key
  }

  async end(): Promise<void> {
    await stopServers()
    await this.#folder?.remove()
  }

  get server(): Started {
    return this.#server ?? assert.fail('The server starts before the tests.')
  }

  get #dataDir(): string {
    return join(this.#folder?.path ?? assert.fail('The folder is made before the tests.'), 'data')
  }

  /** Stops the server and starts it again, on the same port and with the same data. */
  async restart(): Promise<void> {
    const { port } = new URL(this.server.baseUrl)
    this.server.signal('SIGTERM')
    await this.server.ended
    this.#server = await startServer(this.#dataDir, { PORT: port })
  }

  /** The environment of a command on another machine. */
  readonly remote = (): Environment => ({ POSTROAD_URL: this.server.baseUrl, SERVICE_TOKEN: this.#key })
}

/** The server that all tests of a file share: it starts before them and stops after them. */
export function onProcess(): ServerProcess {
  const stage = new ServerProcess()
  before(() => stage.begin())
  after(() => stage.end())
  return stage
}
