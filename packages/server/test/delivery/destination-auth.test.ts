import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, anIngestKey, post } from '../stage/fixtures.ts'
import { aSink, type Answer, type Received, type Sink, type World } from '../stage/harness.ts'
import { anAuthority } from '../stage/tls-files.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database
let key: string
onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    key = (await anIngestKey(world)).key
  },
  { loops: [] },
)

let datasets = 0

/** A destination with a separate dataset. */
async function aRoute(url: string, members: object, at: World = world) {
  datasets += 1
  const dataset = `a${datasets}`
  const { destination } = await aDestination(at, { url, datasets: [dataset], ...members })
  const sendVia = async (ingestKey: string, count: number): Promise<readonly string[]> => {
    const answers = await Promise.all(
      Array.from({ length: count }, () => post(`${at.baseUrl}/v1/ingest/${ingestKey}/${dataset}`, '{"n":1}')),
    )
    return answers.map(({ body }) => body.records[0].id)
  }
  return {
    destination,
    id: destination.id as string,
    send: (count = 1) => sendVia(key, count),
    patch: (body: object): Promise<Answer> => at.admin('PATCH', `destinations/${destination.id}`, body),
    /** The only attempt of a delivery, once it has ended. */
    attemptOf: async (recordId: string): Promise<Answer['body']> => {
      await at.idle()
      const { deliveries } = (await at.admin('GET', `deliveries?record_id=${recordId}`)).body
      const [attempt] = (await at.admin('GET', `deliveries/${deliveries[0].id}`)).body.delivery.attempts
      assert.notEqual(attempt.outcome, null)
      return attempt
    },
  }
}

async function aTestSink(t: TestContext): Promise<Sink> {
  const sink = await aSink()
  t.after(() => sink.stop())
  return sink
}

const lastOf = ({ received }: Sink): Received => received.at(-1) ?? assert.fail('Nothing came.')

// Credentials that deliveries carry, and that no answer shows

const KINDS = [
  {
    auth: { kind: 'basic', username: 'robot', password: 'pass-word: ü-3f9' },
    header: 'authorization',
    value: `Basic ${Buffer.from('robot:pass-word: ü-3f9').toString('base64')}`,
    secret: 'pass-word: ü-3f9',
    shown: { kind: 'basic', username: 'robot', has_secret: true },
  },
  {
    auth: { kind: 'bearer', token: 'token-71c2' },
    header: 'authorization',
    value: 'Bearer token-71c2',
    secret: 'token-71c2',
    shown: { kind: 'bearer', has_secret: true },
  },
  {
    auth: { kind: 'header', header: 'X-Api-Key', value: 'value 44aa' },
    header: 'x-api-key',
    value: 'value 44aa',
    secret: 'value 44aa',
    shown: { kind: 'header', header: 'x-api-key', has_secret: true },
  },
] as const

for (const { auth, header, value, secret, shown } of KINDS) {
  test(`${auth.kind}: every delivery carries the credential, and no answer, audit row or table shows its secret`, async (t) => {
    const sink = await aTestSink(t)
    const route = await aRoute(sink.url, { auth })
    await route.send()
    await sink.until(1)
    assert.equal(lastOf(sink).headers[header], value)
    const answers = [
      route.destination,
      (await world.admin('GET', `destinations/${route.id}`)).body,
      (await route.patch({ auth, timeout_ms: 2_000 })).body,
      (await world.admin('GET', 'destinations')).body,
      (await world.admin('GET', 'audit')).body,
    ]
    assert.deepEqual(
      answers.map((answer) => JSON.stringify(answer).includes(secret)),
      answers.map(() => false),
    )
    assert.deepEqual(route.destination.auth, shown)
    const rows = await database.many<{ text: string }>(
      sql`select destinations::text || coalesce(encode(auth, 'escape'), '') as text from destinations`,
    )
    assert.ok(rows.every(({ text }) => !text.includes(secret)))
  })
}

test('a secret that a change omits stays; another kind needs a new secret; the kind none deletes it', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(sink.url, { auth: { kind: 'basic', username: 'one', password: 'held' } })
  assert.equal((await route.patch({ auth: { kind: 'basic', username: 'two' } })).status, 200)
  const other = await route.patch({ auth: { kind: 'bearer' } })
  assert.deepEqual([other.status, other.body.error], [400, 'auth.token is required for the kind bearer; send it.'])
  await route.send()
  await sink.until(1)
  assert.equal(lastOf(sink).headers.authorization, `Basic ${Buffer.from('two:held').toString('base64')}`)
  assert.deepEqual((await route.patch({ auth: { kind: 'none' } })).body.destination.auth, { kind: 'none' })
  await route.send()
  await sink.until(2)
  assert.equal(lastOf(sink).headers.authorization, undefined)
})

test('a stored secret is never sent elsewhere: another origin, proxy or authority requires it again', async (t) => {
  const [sink, elsewhere] = [await aTestSink(t), await aTestSink(t)]
  const route = await aRoute(sink.url, { auth: { kind: 'bearer', token: 'held-token' } })
  const authority = anAuthority()
  for (const change of [
    { url: elsewhere.url },
    { proxy: { url: elsewhere.url } },
    { url: 'https://localhost/', tls: { ca: authority.cert } },
  ]) {
    const answer = await route.patch(change)
    assert.deepEqual(
      [answer.status, answer.body.error.startsWith('auth: send its secret again')],
      [400, true],
      JSON.stringify(change),
    )
  }
  assert.equal((await route.patch({ url: `${sink.url}other/path` })).status, 200, 'the same origin')
  assert.equal((await route.patch({ url: elsewhere.url, auth: { kind: 'bearer', token: 'new-token' } })).status, 200)
  await route.send()
  await elsewhere.until(1)
  assert.equal(lastOf(elsewhere).headers.authorization, 'Bearer new-token')
})

test('an auth setting that cannot work is refused when it is saved, and the error names the member', async () => {
  const url = 'https://example.com/'
  const pair = anAuthority()
  const other = anAuthority()
  const cases: readonly (readonly [members: object, error: RegExp])[] = [
    [
      { auth: { kind: 'digest' } },
      /^auth\.kind: The kind is one of none, basic, bearer, header, oauth2_client_credentials, payload, aws, google\.$/,
    ],
    [{ auth: { kind: 'basic', username: 'a:b', password: 'x' } }, /^auth\.username:? /],
    [{ auth: { kind: 'basic', username: 'a' } }, /^auth\.password is required/],
    [{ auth: { kind: 'bearer', token: 'a b' } }, /^auth\.token:? /],
    [
      { auth: { kind: 'header', header: 'Service-Signature', value: 'x' } },
      /^auth\.header: The header service-signature is set by Postroad/,
    ],
    [
      { auth: { kind: 'bearer', token: 'x' }, headers: { Authorization: 'y' } },
      /^headers: authorization is set by auth/,
    ],
    [
      {
        auth: {
          kind: 'oauth2_client_credentials',
          token_url: 'https://10.0.0.1/t',
          client_id: 'c',
          client_secret: 's',
        },
      },
      /^auth\.token_url: The address is not on the public internet/,
    ],
    [{ proxy: { url: 'http://10.0.0.1:3128' } }, /^proxy\.url: The address is not on the public internet/],
    [{ proxy: { url: 'http://a:b@example.com:3128' } }, /^proxy\.url must not contain/],
    [{ proxy: { url: 'socks5://example.com:1080' } }, /^proxy\.url must be http/],
    [{ proxy: { url: 'http://example.com:3128', username: 'u' } }, /^proxy\.password is required/],
    [{ tls: { ca: pair.cert }, url: 'http://127.0.0.1/' }, /^tls needs an https url/],
    [{ tls: {} }, /^tls must have a certificate, a ca, or both/],
    [{ tls: { certificate: pair.cert } }, /^tls\.private_key is required/],
    [
      { tls: { certificate: pair.cert, private_key: other.key } },
      /^tls\.private_key is not the key of this certificate/,
    ],
    [{ tls: { certificate: 'no pem', private_key: pair.key } }, /^tls\.certificate must contain a certificate in PEM/],
    [{ tls: { certificate: pair.cert, private_key: 'no pem' } }, /^tls\.private_key must be a private key in PEM/],
    [
      { tls: { ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' } },
      /^tls\.ca contains a certificate that cannot be read/,
    ],
  ]
  for (const [members, error] of cases) {
    const { status, body } = await world.admin('POST', 'destinations', { name: 'never made', url, ...members })
    assert.equal(status, 400, JSON.stringify(members))
    assert.match(body.error, error)
  }
})
