import { after, afterEach, before, beforeEach } from 'node:test'
import { createForwards } from '../../src/pipeline/forward/index.ts'
import { aName } from './fixtures.ts'
import { aWorld, type Answer, type World, type WorldOptions } from './harness.ts'
import { anOtlpReceiver, type OtlpReceiver } from './otlp-receiver.ts'
import { asked } from './source-stage.ts'

/** A world whose loops send nothing by themselves, with a receiver, for tests of forwarders. */
export type ForwarderStage = {
  readonly world: () => World
  readonly receiver: () => OtlpReceiver
  /** Creates a forwarder to the receiver. */
  readonly aForwarder: (members?: object) => Promise<Answer['body']>
  readonly forwarderOf: (id: string) => Promise<Answer['body']>
  /** One run of a process, after the time of a round. */
  readonly run: (ms?: number) => Promise<unknown>
  /** Sends events to a new dataset, and returns their answers. The header `?` is the query string. */
  readonly events: (
    count: number,
    data?: object,
    headers?: Record<string, string>,
  ) => Promise<readonly Answer['body'][]>
}

export function onForwarderStage(options: WorldOptions = { env: { ROLES: 'web' }, loops: [] }): ForwarderStage {
  let world: World
  let receiver: OtlpReceiver
  let url = ''
  const made: string[] = []
  before(async () => {
    world = await aWorld(options)
    const { key } = await asked(world, 'POST ingest-keys', { name: aName('key') })
    url = `${world.baseUrl}/v1/ingest/${key}/events`
  })
  after(() => world.stop())
  beforeEach(async () => {
    receiver = await anOtlpReceiver()
  })
  afterEach(async () => {
    for (const id of made.splice(0)) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await world.admin('DELETE', `forwarders/${id}`)
    }
    await receiver.stop()
  })
  return {
    world: () => world,
    receiver: () => receiver,
    aForwarder: async (members = {}) => {
      const body = { name: aName('forwarder'), endpoint: receiver.url, ...members }
      const { forwarder } = await asked(world, 'POST forwarders', body)
      made.push(forwarder.id)
      return forwarder
    },
    forwarderOf: async (id) => (await asked(world, `GET forwarders/${id}`)).forwarder,
    run: (ms = 5_000) => {
      world.clock.advance(ms)
      return createForwards(world.app.deps, aName('process')).run()
    },
    events: async (count, data = { n: 1 }, { '?': query = '', ...headers } = {}) => {
      const answers = []
      for (let sent = 0; sent < count; sent += 1) {
        // oxlint-disable-next-line no-await-in-loop -- in order
        const response = await fetch(`${url}?${query}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ ...data, sent }),
        })
        if (response.status !== 201) throw new Error(`The event was refused with ${response.status}.`)
        // oxlint-disable-next-line no-await-in-loop -- in order
        answers.push(await response.json())
      }
      return answers
    },
  }
}
