import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Broker } from '../../chaos/brokers/process.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { aRoute, type Route } from './delivery-routes.ts'
import { eventually, type World } from './harness.ts'

type Wanted = {
  readonly name: string
  /** Undefined: its server is not installed, so its tests are skipped. */
  readonly open: (() => Promise<Broker>) | undefined
  /** How to install the server. */
  readonly remedy: string
  readonly world: () => World
  /** Whether the other system recognizes a repeat by the id of the event. */
  readonly dedupes: boolean
  /** The answer that an attempt shows. */
  readonly answer: RegExp
  /** The server checks no credentials. */
  readonly takesAnySecret?: true
  /** For credentials that are checked when they are saved. */
  readonly wrongSecret?: string
}

const SECRETS = { basic: 'password', aws: 'secret_access_key', google: 'private_key' } as const

/** The promises of every kind of destination, with a real server. */
export function testKind({
  name,
  open,
  remedy,
  world: worldOf,
  dedupes,
  answer,
  takesAnySecret,
  wrongSecret = 'wrong-secret-4711',
}: Wanted): void {
  if (open === undefined) process.emitWarning(`The tests of ${name} destinations are skipped: ${remedy}`)

  describe(`a destination of the kind ${name}`, { skip: open === undefined }, () => {
    let broker: Broker
    let world: World
    before(async () => {
      world = worldOf()
      broker = await (open ?? assert.fail)()
    })
    after(() => broker.stop())

    const route = (members: object = {}): Promise<Route> =>
      aRoute(world, broker.members.url, { ...broker.members, timeout_ms: 5_000, ...members })
    /** The wall clock stays the real one, because stores judge the time of a request. */
    const pass = (ms: number): void => {
      world.clock.advance(ms)
      world.clock.wallAheadMs = systemClock().wall() - world.clock.now()
    }
    /** The delivery once it is in this state, while time passes. */
    const passing = (to: Route, record: string, state: string) =>
      eventually(`the delivery is ${state}`, async () => {
        const delivery = await to.delivery(record)
        if (delivery.state === state) return delivery
        pass(1_000)
        return undefined
      })
    const found = async (id: string) => (await broker.stored()).filter((event) => event.id === id)
    /** The last attempt that has ended: the next one may be under way. */
    const attemptOf = async (delivery: { id: string }) =>
      (await world.admin('GET', `deliveries/${delivery.id}`)).body.delivery.attempts.findLast(
        ({ outcome }: { outcome: string | null }) => outcome !== null,
      )

    test('an event arrives once, with its id and the body of a webhook, and the attempt shows the answer', async () => {
      const to = await route()
      const record = await to.send('{"n": 1, "text": "Grüße \\u00e4\\n"}')
      const delivery = await passing(to, record, 'delivered')
      const [event, ...more] = await found(record)
      assert.deepEqual(more, [])
      const body = JSON.parse(event?.body ?? '')
      assert.deepEqual([body.id, body.dataset, body.data], [record, to.dataset, { n: 1, text: 'Grüße ä\n' }])
      const attempt = await attemptOf(delivery)
      assert.deepEqual([attempt.outcome, attempt.error_code], ['succeeded', null])
      assert.match(attempt.response_body, answer)
      const { body: shown } = await world.admin('GET', `attempts/${attempt.id}`)
      assert.equal(shown.body.as_sent, true)
      assert.equal(shown.attempt.request.url.startsWith(broker.members.url), true)
    })

    test(`a replay sends the same id${dedupes ? ', which the other system stores once' : ''}`, async () => {
      const to = await route()
      const record = await to.send()
      const delivery = await passing(to, record, 'delivered')
      assert.equal((await to.replay(delivery)).status, 200)
      const again = await eventually('the replay is delivered', async () => {
        pass(1_000)
        const now = await to.delivery(record)
        return now.state === 'delivered' && now.attempts.length === 2 ? now : undefined
      })
      assert.equal(again.attempts.at(-1).outcome, 'succeeded')
      const events = await found(record)
      assert.equal(events.length, dedupes ? 1 : 2)
      assert.equal(new Set(events.map(({ body }) => body)).size, 1, 'the same bytes')
    })

    test('a template renders the body', async () => {
      const to = await route({ payload_template: { order: '{{ data.n }}', event: '{{ id }}', id: '{{ id }}' } })
      const record = await to.send('{"n":7}')
      await passing(to, record, 'delivered')
      const [event] = await found(record)
      assert.deepEqual(JSON.parse(event?.body ?? ''), { order: 7, event: record, id: record })
    })

    test('while the server is dead its deliveries wait, and after its restart each event arrives', async () => {
      const to = await route()
      const first = await to.send('{"n":1}')
      await passing(to, first, 'delivered')
      await broker.kill()
      const records = await Promise.all([2, 3, 4].map((n) => to.send(`{"n":${n}}`)))
      for (const record of records) {
        // oxlint-disable-next-line no-await-in-loop -- one delivery after the other
        const delivery = await passing(to, record, 'retrying')
        // oxlint-disable-next-line no-await-in-loop -- as above
        const { outcome, error_code } = await attemptOf(delivery)
        assert.equal(outcome, 'failed')
        assert.match(error_code, /^(connection_refused|connection_reset|timeout)$/)
      }
      await broker.start()
      for (const record of [first, ...records]) {
        // oxlint-disable-next-line no-await-in-loop -- as above
        await passing(to, record, 'delivered')
        // oxlint-disable-next-line no-await-in-loop -- as above
        assert.ok((await found(record)).length >= 1, record)
      }
    })

    const skip = takesAnySecret === true && 'this server checks no credentials'
    test('a wrong secret fails the attempt with auth_failed, and nothing shows the secret', { skip }, async () => {
      const { auth } = broker.members as { auth?: { kind: keyof typeof SECRETS } }
      assert.ok(auth)
      const secret = wrongSecret
      const to = await route({ auth: { ...auth, [SECRETS[auth.kind]]: secret } })
      const record = await to.send()
      const delivery = await passing(to, record, 'retrying')
      const attempt = await attemptOf(delivery)
      assert.equal(attempt.error_code, 'auth_failed', attempt.error_detail)
      assert.match(attempt.error_detail, /credentials/)
      const { body: destination } = await world.admin('GET', `destinations/${to.destination.id}`)
      assert.deepEqual(destination.destination.auth.has_secret, true)
      const { body: exported } = await world.admin('GET', `projects/${world.installed.project.id}/config/export`)
      const { body: shown } = await world.admin('GET', `attempts/${attempt.id}`)
      assert.equal(JSON.stringify([destination, exported, shown, delivery]).includes(secret), false)
      await to.patch({ auth: broker.members['auth'] })
      await passing(to, record, 'delivered')
    })

    test('a test of the destination sends a sample, and returns the answer', async () => {
      const to = await route()
      const asked = world.admin('POST', `destinations/${to.destination.id}/test`, {})
      const done = asked.then(() => true)
      await eventually('the test of the destination has its answer', async () => {
        pass(500)
        const soon = new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))
        return Promise.race([done, soon])
      })
      const { body } = await asked
      assert.deepEqual([body.attempt.outcome, body.attempt.error_code], ['succeeded', null], body.attempt.error_detail)
      assert.match(body.attempt.response_body, answer)
    })
  })
}
