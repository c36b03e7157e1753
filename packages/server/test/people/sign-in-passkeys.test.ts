import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { anOwner, aPersonWithPassword, PASSWORD } from '../stage/accounts.ts'
import { Authenticator } from '../stage/authenticator.ts'
import { Browser } from '../stage/browser.ts'
import type { World } from '../stage/harness.ts'
import { whileLocked } from '../stage/meanwhile.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const ORIGIN = 'http://localhost:4680'

let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { PUBLIC_URL: ORIGIN, LOG_LEVEL: 'silent' }, loops: [] },
)

const browser = (): Browser => new Browser(world.address)

async function aPersonsBrowser(): Promise<Browser> {
  const { email } = await aPersonWithPassword(world, database)
  const one = browser()
  assert.equal((await one.call('POST session', { email, password: PASSWORD })).status, 200)
  return one
}

async function registered(
  of: { by?: Browser; authenticator?: Authenticator } = {},
): Promise<{ own: Browser; authenticator: Authenticator; id: string }> {
  const { by: own = await aPersonsBrowser(), authenticator = new Authenticator() } = of
  const { options } = (await own.call('POST account/passkeys/options', {})).body
  const { body, status, text } = await own.call('POST account/passkeys', {
    name: 'Laptop',
    passkey: authenticator.create(options, ORIGIN),
  })
  assert.equal(status, 200, text)
  return { own, authenticator, id: body.passkey.id }
}

const offered = async (): Promise<{ challenge: string; rpId: string }> =>
  (await browser().call('POST session/passkey-options', {})).body.options

test('a passkey signs in without an account name, is listed with its last use, and signs nobody in once it is removed', async () => {
  const { own, authenticator, id } = await registered()
  const options = await offered()
  assert.deepEqual([options.rpId, 'allowCredentials' in options], ['localhost', false])
  const visitor = browser()
  assert.deepEqual(
    (await visitor.call('POST session', { passkey: authenticator.get(options, ORIGIN), next: '/account' })).body,
    { ok: true, next: '/account' },
  )
  assert.deepEqual((await visitor.call('GET account')).body.user, (await own.call('GET account')).body.user)
  const [listed] = (await own.call('GET account/passkeys')).body.passkeys
  assert.deepEqual(
    [listed.id, listed.name, listed.last_used_at],
    [id, 'Laptop', new Date(world.clock.now()).toISOString()],
  )
  assert.equal((await own.call(`DELETE account/passkeys/${id}`)).status, 200)
  assert.equal(
    (await browser().call('POST session', { passkey: authenticator.get(await offered(), ORIGIN) })).body.reason,
    'passkey_refused',
  )
})

test('an answer must be for this origin, this host, this challenge and a verified person, and counts once', async () => {
  const { authenticator } = await registered()
  const stranger = new Authenticator()
  const thief = Object.assign(new Authenticator(), { id: authenticator.id })
  const refused: [string, () => Promise<unknown>][] = [
    ['another origin', async () => authenticator.get(await offered(), 'http://evil.example')],
    ['the same host by another port', async () => authenticator.get(await offered(), 'http://localhost:1')],
    ['another host', async () => authenticator.get({ ...(await offered()), rpId: 'evil.example' }, ORIGIN)],
    [
      'a challenge that was never issued',
      async () => authenticator.get({ challenge: 'bWFkZS11cA', rpId: 'localhost' }, ORIGIN),
    ],
    ['an unknown passkey', async () => stranger.get(await offered(), ORIGIN)],
    ['another key under a known id', async () => thief.get(await offered(), ORIGIN)],
    [
      'a challenge for registering',
      async () =>
        authenticator.get(
          {
            challenge: (await (await aPersonsBrowser()).call('POST account/passkeys/options', {})).body.options
              .challenge,
            rpId: 'localhost',
          },
          ORIGIN,
        ),
    ],
    [
      'nobody verified',
      async () => {
        authenticator.flags = 0x01
        const passkey = authenticator.get(await offered(), ORIGIN)
        authenticator.flags = 0x05
        return passkey
      },
    ],
  ]
  for (const [what, answer] of refused) {
    const visitor = browser()
    const { status, body } = await visitor.call('POST session', { passkey: await answer() })
    assert.deepEqual([status, body.reason, visitor.cookies.size], [401, 'passkey_refused', 0], what)
  }
  const passkey = authenticator.get(await offered(), ORIGIN)
  assert.equal((await browser().call('POST session', { passkey })).status, 200)
  assert.equal(
    (await browser().call('POST session', { passkey })).body.reason,
    'passkey_refused',
    'the same answer again',
  )
})

test('a cloned passkey whose counter lags is refused', async () => {
  const { authenticator } = await registered()
  for (const counter of [5, 6]) {
    authenticator.counter = counter
    assert.equal(
      (await browser().call('POST session', { passkey: authenticator.get(await offered(), ORIGIN) })).status,
      200,
    )
  }
  authenticator.counter = 3
  assert.equal(
    (await browser().call('POST session', { passkey: authenticator.get(await offered(), ORIGIN) })).body.reason,
    'passkey_refused',
  )
})

test('a challenge is valid for five minutes', async () => {
  const { authenticator } = await registered()
  const options = await offered()
  world.clock.advance(300_000)
  assert.equal(
    (await browser().call('POST session', { passkey: authenticator.get(options, ORIGIN) })).body.reason,
    'passkey_refused',
  )
})

test('the name of a passkey is text that can be stored', async () => {
  const own = await aPersonsBrowser()
  const { options } = (await own.call('POST account/passkeys/options', {})).body
  const passkey = new Authenticator().create(options, ORIGIN)
  const refused = await own.call('POST account/passkeys', { name: 'Lap\0top', passkey })
  assert.deepEqual([refused.status, refused.body.reason], [400, 'invalid_request'])
  assert.match(refused.body.error, /name .*U\+0000/)
})

test('the transports of a passkey are those that browsers know, whatever else the request contains', async () => {
  const own = await aPersonsBrowser()
  const cases: readonly [unknown, readonly string[]][] = [
    [['internal', '\0', 7, 'x'.repeat(1_000)], ['internal']],
    [{ usb: true }, []],
  ]
  for (const [transports, wanted] of cases) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { options } = (await own.call('POST account/passkeys/options', {})).body
    const passkey = new Authenticator().create(options, ORIGIN)
    Object.assign(passkey.response, { transports })
    // oxlint-disable-next-line no-await-in-loop -- as above
    const made = await own.call('POST account/passkeys', { name: 'Odd', passkey })
    assert.equal(made.status, 200, made.text)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { excludeCredentials: known } = (await own.call('POST account/passkeys/options', {})).body.options
    assert.deepEqual(known.find(({ id }: { id: string }) => id === passkey.id).transports, wanted)
  }
})

test('an account gets no more than 20 passkeys, also when all registrations were started before', async () => {
  const own = await aPersonsBrowser()
  const started: Parameters<Authenticator['create']>[0][] = []
  for (let count = 0; count <= LIMITS.passkeysPerUserMax; count += 1)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    started.push((await own.call('POST account/passkeys/options', {})).body.options)
  const statuses: number[] = []
  for (const options of started) {
    const passkey = new Authenticator().create(options, ORIGIN)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, body } = await own.call('POST account/passkeys', { name: 'One of many', passkey })
    statuses.push(status)
    if (status !== 200) assert.equal(body.reason, 'passkey_limit_reached')
  }
  assert.deepEqual(statuses, [...Array.from({ length: LIMITS.passkeysPerUserMax }, () => 200), 409])
})

test('while the database is busy, a passkey is not refused, and works afterwards', async () => {
  const { authenticator } = await registered()
  const passkey = authenticator.get(await offered(), ORIGIN)
  const busy = await whileLocked(database, 'passkeys', () => browser().call('POST session', { passkey }))
  assert.deepEqual([busy.status, busy.body.reason], [503, 'overloaded'])
  assert.equal((await browser().call('POST session', { passkey })).status, 200)
})

test('only the person who requested a passkey can register it, once, and nobody else can remove it', async () => {
  const [one, two] = [await aPersonsBrowser(), await aPersonsBrowser()]
  const { options } = (await one.call('POST account/passkeys/options', {})).body
  const made = new Authenticator()
  assert.equal(
    (await two.call('POST account/passkeys', { name: 'Mine', passkey: made.create(options, ORIGIN) })).body.reason,
    'passkey_refused',
  )
  const { id, authenticator } = await registered({ by: one })
  const again = (await two.call('POST account/passkeys/options', {})).body.options
  assert.equal(
    (await two.call('POST account/passkeys', { name: 'Theirs', passkey: authenticator.create(again, ORIGIN) })).body
      .reason,
    'passkey_refused',
  )
  const random = 'psk_01kf0rdqg0e31tkzsaqv275w2x'
  const [foreign, unknown] = [
    await two.call(`DELETE account/passkeys/${id}`),
    await two.call(`DELETE account/passkeys/${random}`),
  ]
  assert.deepEqual([foreign.status, foreign.body], [unknown.status, unknown.body])
  assert.equal(foreign.status, 404)
  assert.equal((await one.call('GET account/passkeys')).body.passkeys.length, 1)
})

test('adding and removing a passkey is audited, and neither row contains the key', async () => {
  const owner = new Browser(world.address)
  const signed = await anOwner(world, owner)
  const { id, authenticator } = await registered({ by: signed })
  await signed.call(`DELETE account/passkeys/${id}`)
  const rows = await database.many<{ action: string; target: string; details: string }>(
    sql`select action, target, details from audit_rows where target = ${id} order by id`,
  )
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['add_passkey', 'remove_passkey'],
  )
  assert.ok(!JSON.stringify(rows).includes(authenticator.id))
})
