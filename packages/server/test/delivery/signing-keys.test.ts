import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify as verifyBytes } from 'node:crypto'
import { test } from 'node:test'
import { encodeId } from '@postroad/contract'
import { verify } from '@postroad/verify'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, post, signedIn } from '../stage/fixtures.ts'
import type { Answer, Received, Sink, World } from '../stage/harness.ts'
import { ask, theWorkspace, type Headers } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract part 5: deliveries signed with an ed25519 key, which receivers verify with its published public key. */
let world: World
let database: Database
let sink: Sink

onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
  },
  { loops: [] },
)

const HOUR_MS = 3_600_000
let datasets = 0

type Key = { readonly id: string; readonly key: string; readonly expires_at: string | null }

async function aTarget(signing: object) {
  datasets += 1
  const dataset = `k${datasets}`
  const { destination, secret } = await aDestination(world, { url: sink.url, datasets: [dataset], signing })
  const send = async (): Promise<Received> => {
    const had = sink.received.length
    assert.equal((await post(`${world.endpoint}/${dataset}`, '{"n":1}')).status, 201)
    const got = (await sink.until(had + 1))[had]
    assert.ok(got)
    return got
  }
  const read = async () => (await world.admin('GET', `destinations/${destination.id}`)).body.destination
  return {
    id: destination.id,
    secret,
    send,
    read,
    keys: async (): Promise<readonly Key[]> => (await read()).public_keys,
  }
}

const owner = async (): Promise<Headers> => signedIn(world, await theWorkspace(database))
const rotate = async (id: string, body: object = {}): Promise<Answer> =>
  ask(world, `POST destinations/${id}/rotate-secret`, { headers: await owner(), body })
const published = async (path: string) => {
  const response = await fetch(`${world.address}/.well-known/webhook-keys/${path}`)
  return {
    status: response.status,
    cache: response.headers.get('cache-control'),
    body: JSON.parse(await response.text()),
  }
}
const projectId = async (): Promise<string> => encodeId('project', (await theWorkspace(database)).defaultProjectId)

const itemsOf = ({ headers }: Received): readonly string[] => String(headers['webhook-signature']).split(' ')

/** Checks an item as any receiver can: the public key of a JWK, and the signed bytes of the specification. */
function isSignedBy(x: string, { headers, body }: Received): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signed = Buffer.from(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`)
  return itemsOf({ headers, body } as Received).some(
    (item) => item.startsWith('v1a,') && verifyBytes(null, signed, key, Buffer.from(item.slice(4), 'base64')),
  )
}

test('each scheme sends its signatures, and a receiver with the public key of the destination verifies v1a', async () => {
  const hmac = await aTarget({ header: 'both' })
  assert.deepEqual(await hmac.keys(), [])
  assert.match(String((await hmac.send()).headers['webhook-signature']), /^v1,\S+$/)

  for (const [signing, forms] of [
    [{ header: 'standard', scheme: 'ed25519' }, /^v1a,\S+$/],
    [{ header: 'both', scheme: 'both' }, /^v1,\S+ v1a,\S+$/],
  ] as const) {
    const target = await aTarget(signing)
    const [key] = await target.keys()
    assert.match(key?.key ?? '', /^whpk_[A-Za-z0-9+/]{43}=$/)
    const got = await target.send()
    assert.match(String(got.headers['webhook-signature']), forms)
    assert.equal(got.headers['service-signature'] !== undefined, signing.header === 'both')
    const asked = { sender: { scheme: 'standard_webhooks' } as const, body: got.body, now: world.clock.now() }
    const headers = got.headers as Record<string, string>
    assert.deepEqual(await verify({ ...asked, headers, secret: key?.key ?? '' }), { state: 'verified' })
    const other = (await (await aTarget(signing)).keys())[0]?.key ?? ''
    assert.equal((await verify({ ...asked, headers, secret: other })).state, 'failed')
    // The key of another destination did not sign it.
    assert.ok(!isSignedBy(Buffer.from(other.slice(5), 'base64').toString('base64url'), got))
  }
})

test('a project publishes the keys of its destinations as a JWK set, for anyone and to be cached', async () => {
  const target = await aTarget({ header: 'standard', scheme: 'ed25519' })
  const project = await projectId()
  const one = await published(`${project}/${target.id}`)
  assert.deepEqual([one.status, one.cache], [200, 'public, max-age=300'])
  const [jwk] = one.body.keys
  const [key] = await target.keys()
  const thumbprint = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${jwk.x}"}`).digest('base64url')
  assert.deepEqual(jwk, {
    kty: 'OKP',
    crv: 'Ed25519',
    use: 'sig',
    alg: 'EdDSA',
    kid: thumbprint,
    x: Buffer.from(key?.key.slice(5) ?? '', 'base64').toString('base64url'),
    key: key?.key,
    destination_id: target.id,
    expires_at: null,
  })
  assert.equal(key?.id, thumbprint)
  assert.ok(isSignedBy(jwk.x, await target.send()))
  const all = await published(project)
  assert.ok(all.body.keys.some(({ kid }: { kid: string }) => kid === thumbprint))

  const hmac = await aTarget({ header: 'both' })
  for (const path of [`${project}/${hmac.id}`, `${project}/dst_unknown`, 'prj_unknown'])
    assert.equal((await published(path)).status, 404, path)
})

test('a rotation replaces the key, both sign during the overlap, and the previous one is published until it expires', async () => {
  const target = await aTarget({ header: 'standard', scheme: 'ed25519' })
  const [before] = await target.keys()
  assert.equal((await rotate(target.id, { overlap_hours: 24 })).status, 200)
  const during = await target.keys()
  assert.equal(during.length, 2)
  assert.notEqual(during[0]?.key, before?.key)
  assert.deepEqual(during[1], { ...before, expires_at: (await target.read()).previous_secret_expires_at })
  const set = (await published(`${await projectId()}/${target.id}`)).body.keys
  const both = await target.send()
  assert.equal(itemsOf(both).length, 2)
  for (const { x } of set) assert.ok(isSignedBy(x, both))

  world.clock.advance(25 * HOUR_MS)
  assert.equal((await target.keys()).length, 1)
  const after = await target.send()
  assert.deepEqual(
    set.map(({ x }: { x: string }) => isSignedBy(x, after)),
    [true, false],
  )
})

test('a change of the scheme does not change the key, and a change without a scheme does not change the scheme', async () => {
  const target = await aTarget({ header: 'both', scheme: 'both' })
  const before = await target.keys()
  const change = (signing: object) => world.admin('PATCH', `destinations/${target.id}`, { signing })
  assert.deepEqual((await change({ header: 'standard' })).body.destination.signing, {
    header: 'standard',
    scheme: 'both',
  })
  assert.deepEqual((await change({ header: 'standard', scheme: 'hmac' })).body.destination.public_keys, [])
  await change({ header: 'standard', scheme: 'ed25519' })
  assert.deepEqual(await target.keys(), before)
})

const refused = async (body: object): Promise<string> => {
  const { status, body: answer } = await world.admin('POST', 'destinations', { name: 'x', url: sink.url, ...body })
  assert.equal(status, 400)
  return answer.error
}

test('a scheme whose signatures no request would have is refused with the remedy', async () => {
  assert.match(await refused({ signing: { header: 'both', scheme: 'ed25519' } }), /send the header standard/)
  assert.match(await refused({ signing: { header: 'service', scheme: 'both' } }), /needs the header both or standard/)
  assert.match(
    await refused({
      config: { kind: 'redis_stream', stream: 's' },
      url: 'rediss://redis.example.com:6379',
      signing: { header: 'both', scheme: 'both' },
    }),
    /has no headers/,
  )
})

test('a sink on this server accepts deliveries that only an ed25519 key signed, and the key is stored sealed', async () => {
  const made = (await world.admin('POST', 'destination-sinks', { name: `sink ${datasets}` })).body.destination
  await world.admin('PATCH', `destinations/${made.id}`, { signing: { header: 'standard', scheme: 'ed25519' } })
  const { attempt } = (await world.admin('POST', `destinations/${made.id}/test`, {})).body
  assert.equal(attempt.outcome, 'succeeded', JSON.stringify(attempt))
  const [row] = await database.many<{ text: string }>(
    sql`select encode(signing_key, 'escape') as text from destinations where signing_key is not null limit 1`,
  )
  assert.ok(row !== undefined && !row.text.includes('whsk_'))
})
