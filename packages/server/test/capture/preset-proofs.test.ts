import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { SourcePreset } from '@postroad/contract'
import { splitPath } from '@postroad/contract/dot-path'
import { verifySignature } from '../../src/domain/signature/index.ts'
import { aWebhook, post, recordOf } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * The proofs of the presets: requests that the provider's own library or published code signed or verified, or that the
 * provider publishes.
 * `scripts/prove-presets.ts` checks them with these libraries again.
 */
type Proof = {
  /** The library with its version and its call, or the page or file that publishes the request, or the code that accepts it. */
  readonly by: string
  /**
   * How the code or the page at `by` proves it: the code ran, and signed or accepted the request, or it shows the header
   * in which a token is sent. Absent: a library accepts the request, or the page publishes it.
   */
  readonly how?: 'ran' | 'shown'
  readonly secret: string
  /** Unix time, for a signature with a time. */
  readonly now?: number
  /** The path of the endpoint, when the signature covers the URL. */
  readonly path?: string
  readonly content_type?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The title of the event; absent: the request has none. */
  readonly title?: string
  /** The certificate or the keys that the check fetches. */
  readonly fetched?: { readonly url: string; readonly text: string }
  /** A published body that is not JSON is verified, but not stored. */
  readonly stored?: false
}

const FOLDER = new URL('../../../verify/presets/', import.meta.url)
const PUBLIC = 'https://hooks.example.com'

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, FOLDER), 'utf8'))
const idsIn = (path: string): readonly string[] =>
  readdirSync(new URL(path, FOLDER))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the files beside the presets
const proofs = idsIn('proofs/').map((id) => ({ id, proof: read(`proofs/${id}.json`) as Proof }))

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks these files when it starts
const presetOf = (id: string): SourcePreset => read(`${id}.json`) as SourcePreset

/** The console reads a title at a path from the payload. */
function titleOf(at: NonNullable<SourcePreset['settings']['event_title']>, record: Answer['body']): unknown {
  return 'header' in at
    ? record.header_title
    : splitPath(at.path).reduce((value: Answer['body'], step) => value?.[step], JSON.parse(record.data_text))
}

let world: World
let started: number

onWorldStage(
  (made) => {
    ;({ world } = made)
    started = world.clock.now()
  },
  { env: { PUBLIC_URL: PUBLIC }, loops: [] },
)

async function endpointOf(id: string, { secret }: Proof): Promise<Answer['body']> {
  const { settings } = presetOf(id)
  const { verification, handshake, ...others } = settings
  return aWebhook(world, {
    ...others,
    name: id,
    verification: { ...verification, secret },
    handshake: handshake.kind === 'hub_challenge' ? { ...handshake, verify_token: 'token' } : handshake,
  })
}

/** The URL of an endpoint is random, and providers are away, so a request that needs one of them goes to the verifier itself. */
function verdict(id: string, proof: Proof, body = proof.body): string {
  const { secret, path = '', now = 0, fetched, content_type: type = 'application/json' } = proof
  const headers = { 'content-type': type, ...proof.headers }
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const { verification: settings } = presetOf(id).settings
  const failure = verifySignature({
    settings,
    headers: lower,
    body: Buffer.from(body),
    nowSeconds: now,
    url: PUBLIC + path,
    secrets: [secret],
    fetched,
  })
  return failure?.reason ?? 'ok'
}

/** A token proves who sent a request, and some signatures cover only members of the body, whose white space may change. */
function coversBody(id: string): boolean {
  const { verification } = presetOf(id).settings
  if ('signed' in verification) return /\{(?:body|form)\}/.test(verification.signed)
  return !['static_token', 'basic_auth', 'oidc_bearer', 'aws_sns'].includes(verification.scheme)
}

const changed = (body: string): string => (body.endsWith('}') ? `${body.slice(0, -1)} }` : `${body}0`)

const isOutside = ({ proof }: { readonly proof: Proof }): boolean => (proof.path ?? proof.fetched) !== undefined

describe('each proof of a preset passes its endpoint, and a changed body does not', () => {
  for (const { id, proof } of proofs.filter(isOutside))
    test(`${id}: ${proof.by}`, () => {
      assert.equal(verdict(id, proof), 'ok')
      if (coversBody(id)) assert.equal(verdict(id, proof, changed(proof.body)), 'bad_signature')
      assert.equal(verdict(id, { ...proof, secret: `${proof.secret}x` }), 'bad_signature')
      // The scheme of tokens checks the hash of the body, and not that of the URL.
      const { scheme } = presetOf(id).settings.verification
      if (proof.path !== undefined && scheme !== 'jwt')
        assert.equal(verdict(id, { ...proof, path: `${proof.path}/other` }), 'bad_signature')
    })

  for (const { id, proof } of proofs.filter((one) => !isOutside(one)))
    test(`${id}: ${proof.by}`, async (t) => {
      t.after(() => world.clock.set(started))
      const { settings } = presetOf(id)
      if (proof.now !== undefined) world.clock.set(proof.now * 1_000)
      const { public_path: path } = await endpointOf(id, proof)
      const { headers, body, content_type: type = 'application/json' } = proof
      const send = (sent: string): Promise<Answer> => post(world.address + path, sent, { headers, type })
      const first = await send(body)
      if (proof.stored === false) assert.deepEqual([first.status, first.body.reason], [400, 'invalid_body'])
      else {
        assert.ok(first.status < 300, JSON.stringify(first.body))
        const own = { prefer: 'return=representation' }
        const again = await post(world.address + path, body, { headers: { ...headers, ...own }, type })
        if (settings.event_title !== null) {
          const record = await recordOf(world, again.body.records[0].id)
          assert.equal(titleOf(settings.event_title, record), proof.title)
        }
      }
      if (!coversBody(id)) {
        assert.equal(verdict(id, { ...proof, secret: `${proof.secret}x` }), 'bad_signature')
        return
      }
      const other = await send(changed(body))
      assert.deepEqual([other.status, other.body.reason], [401, 'bad_signature'])
    })
})

/** A preset whose proof is missing is not listed: a wrong preset refuses every event, or accepts forged ones. */
test('every preset has a proof', () => {
  const presets = idsIn('.').toSorted()
  process.stdout.write(`${proofs.length} of ${presets.length} presets have a proof\n`)
  assert.deepEqual(proofs.map(({ id }) => id).toSorted(), presets)
})

test('a proof that is neither a library nor a published request says how its source proves it', () => {
  for (const { id, proof } of proofs) {
    const { scheme } = presetOf(id).settings.verification
    // Only a header with a token is a fact that a page can show; a signature is computed.
    if (proof.how === 'shown') assert.equal(scheme, 'static_token', id)
    assert.ok(proof.how === undefined || /^(?:https:\/\/|go )/.test(proof.by), id)
    assert.match(proof.by, /^(?:https:\/\/\S+$|(?:npm|go|pip) \S+ \S+: )/, id)
  }
})
