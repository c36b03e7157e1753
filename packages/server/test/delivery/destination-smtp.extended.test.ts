import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { advanceTo, aRoute, type Route } from '../stage/delivery-routes.ts'
import type { World } from '../stage/harness.ts'
import { aMailReceiver, MAIL_PASSWORD, type MailReceiver } from '../stage/mail-receiver.ts'
import { anAuthority } from '../stage/tls-files.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Destinations that send emails, with a real mail server. */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const CONFIG = { kind: 'smtp', from: 'events@example.com', to: ['ada@example.com', 'bob@example.com'] } as const
const AUTH = { kind: 'basic', username: 'app', password: MAIL_PASSWORD }

async function aReceiver(t: TestContext, options: Parameters<typeof aMailReceiver>[0] = {}): Promise<MailReceiver> {
  const receiver = await aMailReceiver(options)
  t.after(() => receiver.stop())
  return receiver
}
const plainRoute = ({ port }: MailReceiver, members: object = {}): Promise<Route> =>
  aRoute(world, `smtp://127.0.0.1:${port}`, { config: { ...CONFIG, encryption: 'off' }, auth: AUTH, ...members })
const attemptsOf = async (to: Route, record: string) => (await to.delivery(record)).attempts

test('an event is one email with the body, and its Message-ID contains the id of the event', async (t) => {
  const receiver = await aReceiver(t)
  const to = await plainRoute(receiver, {
    config: { ...CONFIG, encryption: 'off', subject: 'New in {dataset}\u00e9: {id}' },
  })
  const record = await to.send('{"n":1}')
  const { attempts } = await to.in(record, 'delivered')
  assert.match(attempts[0].response_body, /^250 /)
  const [mail] = receiver.received
  assert.deepEqual([mail?.from, mail?.to], [CONFIG.from, [...CONFIG.to]])
  assert.match(mail?.raw ?? '', new RegExp(`^Message-ID: <${record}@example\\.com>`, 'm'))
  assert.match(mail?.raw ?? '', /^Auto-Submitted: auto-generated/m)
  const body = (mail?.raw ?? '')
    .split('\r\n\r\n')
    .slice(1)
    .join('\r\n\r\n')
    .replaceAll('=\r\n', '')
    .replaceAll('=3D', '=')
  assert.deepEqual(JSON.parse(body.trim()).data, { n: 1 })
})

test('an email that the server refuses temporarily is retried, and its attempt quotes the server', async (t) => {
  const receiver = await aReceiver(t)
  receiver.answer = 451
  const to = await plainRoute(receiver)
  const record = await to.send()
  const { attempts } = await to.in(record, 'retrying')
  assert.equal(attempts[0].error_code, 'refused')
  assert.match(attempts[0].error_detail, /^The mail server refused the email\. It says: .*Not this one/)
  receiver.answer = undefined
  advanceTo(world, await to.in(record, 'retrying'))
  await to.in(record, 'delivered')
  assert.equal(receiver.received.length, 1)
})

/** A mail server that answers the recipient `bob` with this status; undefined: it accepts him. */
async function aReceiverWithout(t: TestContext, state: { bob: number | undefined }): Promise<MailReceiver> {
  return aReceiver(t, {
    onRcptTo: ({ address }, _session, done) =>
      state.bob !== undefined && address.startsWith('bob@')
        ? done(Object.assign(new Error('Not him'), { responseCode: state.bob }))
        : done(),
  })
}
const recipientsOf = ({ received }: MailReceiver) =>
  received.map(({ to }) => to.map((address) => address.split('@')[0]))

for (const [later, who, recipients] of [
  [undefined, 'gets the email later', [['ada'], ['bob']]],
  [550, 'and then refuses ends the delivery', [['ada']]],
] as const) {
  test(`a recipient whom the server defers ${who}, and the accepted one gets it once`, async (t) => {
    const state: { bob: number | undefined } = { bob: 450 }
    const receiver = await aReceiverWithout(t, state)
    const to = await plainRoute(receiver)
    const record = await to.send()
    const { attempts } = await to.in(record, 'retrying')
    assert.equal(attempts[0].error_code, 'refused')
    assert.match(attempts[0].error_detail, /^The mail server deferred 1 of 2 recipients\. .* It says: .*Not him/)
    state.bob = later
    advanceTo(world, await to.in(record, 'retrying'))
    await to.in(record, 'delivered')
    assert.deepEqual(recipientsOf(receiver), recipients)
  })
}

test('an email that is too large fails immediately and is not sent again, and the next event is delivered', async (t) => {
  const receiver = await aReceiver(t)
  receiver.answer = 552
  const to = await plainRoute(receiver)
  const record = await to.send()
  const { attempts } = await to.in(record, 'failed')
  assert.deepEqual([attempts.length, attempts[0].error_code], [1, 'event_too_large'])
  receiver.answer = undefined
  await to.in(await to.send(), 'delivered')
})

test('an email for a full mailbox is retried, because the mailbox can have room again', async (t) => {
  const receiver = await aReceiver(t)
  Object.assign(receiver, { answer: 552, words: '5.2.2 The mailbox is over its quota' })
  const to = await plainRoute(receiver)
  const { attempts } = await to.in(await to.send(), 'retrying', 'failed')
  assert.equal(attempts[0].error_code, 'refused', attempts[0].error_detail)
  Object.assign(receiver, { words: '5.3.4 The message is too big for this system' })
  const large = await to.in(await to.send(), 'retrying', 'failed')
  assert.equal(large.attempts[0].error_code, 'event_too_large')
})

test('a wrong password fails with auth_failed, and the words of the server do not show it', async (t) => {
  const receiver = await aReceiver(t)
  const to = await plainRoute(receiver, { auth: { ...AUTH, password: 'wrong-4711' } })
  const record = await to.send()
  await to.in(record, 'retrying')
  const [attempt] = await attemptsOf(to, record)
  assert.equal(attempt.error_code, 'auth_failed')
  assert.equal(JSON.stringify(attempt).includes('wrong-4711'), false)
  assert.match(attempt.error_detail, /Who is that with •+\?/)
})

test('with encryption the server must offer STARTTLS and prove its name, before it sees the password', async (t) => {
  const authority = anAuthority()
  const { key, cert } = authority.sign('localhost')
  const secure = await aReceiver(t, { disabledCommands: [], key, cert })
  const url = `smtp://localhost:${secure.port}`
  const trusted = await aRoute(world, url, { config: CONFIG, auth: AUTH, tls: { ca: authority.cert } })
  await trusted.in(await trusted.send(), 'delivered')
  const untrusted = await aRoute(world, url, { config: CONFIG, auth: AUTH })
  const record = await untrusted.send()
  await untrusted.in(record, 'retrying')
  assert.equal((await attemptsOf(untrusted, record))[0].error_code, 'tls_failed')
  const plain = await aReceiver(t)
  const stripped = await aRoute(world, `smtp://localhost:${plain.port}`, { config: CONFIG, auth: AUTH })
  const second = await stripped.send()
  await stripped.in(second, 'retrying')
  assert.equal((await attemptsOf(stripped, second))[0].error_code, 'tls_failed')
  assert.equal(plain.received.length, 0)
})

test('an attempt that ended while the connection was opened sends nothing afterwards, and the others do', async (t) => {
  const greeting = Promise.withResolvers<void>()
  const receiver = await aReceiver(t, { onConnect: (_session, done) => void greeting.promise.then(() => done()) })
  const send = (id: string, timeoutMs: number) =>
    world.app.deps.links.send({
      lane: 'an example',
      key: 'slow',
      place: {
        host: '127.0.0.1',
        port: receiver.port,
        path: '',
        protocol: 'smtp:',
        isEncrypted: false,
        tls: null,
        user: { name: AUTH.username, password: AUTH.password },
        token: null,
      },
      config: { ...CONFIG, to: [...CONFIG.to], subject: '{id}', encryption: 'off' },
      maxInFlight: 1,
      message: { id, dataset: 'orders', receivedAt: new Date(world.clock.now()), body: '{}', headers: {} },
      timeoutMs,
    })
  const sending = send('rec_first', 200)
  const others = send('rec_second', 10_000)
  const first = await sending
  assert.deepEqual([first.kind, 'code' in first && first.code], ['failure', 'timeout'])
  const third = send('rec_third', 10_000)
  greeting.resolve()
  assert.deepEqual([(await others).kind, (await third).kind], ['accepted', 'accepted'])
  const ids = receiver.received.map(({ raw }) => /^Message-ID: <(rec_\w+)@/m.exec(raw)?.[1])
  assert.deepEqual(
    ids.map(String).toSorted((a, b) => a.localeCompare(b)),
    ['rec_second', 'rec_third'],
  )
})
