import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import type { RequestToVerify, Scheme } from '../src/index.ts'
import { presets } from '../src/presets.ts'
import { PLATFORMS } from './platforms.ts'

/** Every request that a provider, its library or its documentation signed, on every platform. */
type Vector = {
  readonly secret: string
  readonly now?: number
  readonly body: string
  readonly headers: Record<string, string>
}
type Published = Vector & {
  readonly id: string
  readonly scheme?: Scheme['scheme']
  readonly surface?: 'ingest_key' | 'outbound'
  readonly config?: object
  readonly expect: string
}
type Proof = Vector & {
  readonly by: string
  readonly path?: string
  readonly content_type?: string
  readonly fetched?: { readonly url: string; readonly text: string }
}
type Case = {
  readonly name: string
  readonly asked: RequestToVerify & { readonly body: string; readonly secret: string }
  readonly expect: string
}

const NOW = 1_700_000_000
const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const requestOf = ({ secret, now = NOW, body, headers }: Vector): Omit<Case['asked'], 'sender'> => ({
  secret,
  now: now * 1_000,
  body,
  headers,
})

/** Signatures of Postroad's own surfaces are in `signature.test.ts`. */
const published: readonly Case[] = (read('vectors/signatures.json') as readonly Published[])
  .filter(({ surface }) => surface === undefined)
  .map((one) => {
    const sender = { scheme: one.scheme ?? 'none', ...one.config } as Scheme
    return { name: one.id, asked: { sender, ...requestOf(one) }, expect: one.expect }
  })

/** The proofs of the presets: a library of the provider signed or verified each of them. */
const proven: readonly Case[] = Object.values(presets)
  .map((preset) => ({ preset, path: `../presets/proofs/${preset.id}.json` }))
  .filter(({ path }) => existsSync(new URL(path, import.meta.url)))
  .map(({ preset, path: file }) => {
    const proof = read(file) as Proof
    const { fetched, content_type: type = 'application/json' } = proof
    const asked = {
      sender: preset,
      url: `https://hooks.example.com${proof.path ?? ''}`,
      ...requestOf({ ...proof, headers: { 'content-type': type, ...proof.headers } }),
      fetchText: async (url: string): Promise<string> => (url === fetched?.url ? fetched.text : ''),
    }
    return { name: `${preset.id}: ${proof.by}`, asked, expect: 'ok' }
  })

const CASES = [...published, ...proven]
/** Schemes whose proof is the secret. */
const TOKENS = new Set<string>(['static_token', 'basic_auth'])
const settingsOf = ({ sender }: RequestToVerify): Scheme => ('scheme' in sender ? sender : sender.settings.verification)
/** Some signatures cover only members of the body, and a token of an issuer none. */
const coversBody = (settings: Scheme): boolean =>
  'signed' in settings ? /\{(?:body|form)\}/.test(settings.signed ?? '{body}') : settings.scheme !== 'oidc_bearer'

let checked = 0
after(() => {
  assert.equal(checked, CASES.length * PLATFORMS.length)
  process.stdout.write(`${CASES.length} published vectors checked on each of ${PLATFORMS.length} platforms\n`)
})

for (const [platform, load] of PLATFORMS)
  describe(`published vectors on ${platform}`, () => {
    for (const { name, asked, expect } of CASES)
      test(name, async () => {
        const { verify } = await load()
        const verdict = await verify(asked)
        checked += 1
        if (expect !== 'ok') {
          assert.ok(verdict.state === 'failed')
          assert.ok(
            expect.split('_or_').some((one) => verdict.reason.includes(one)),
            `${expect}: ${verdict.reason}`,
          )
          return
        }
        const settings = settingsOf(asked)
        const isToken = TOKENS.has(settings.scheme)
        assert.equal(verdict.state, isToken ? 'authenticated' : 'verified')
        // A vector that passes after a change proves nothing.
        const change = isToken || !coversBody(settings) ? { secret: `${asked.secret}x` } : { body: `${asked.body}0` }
        assert.equal((await verify({ ...asked, ...change })).state, 'failed')
      })
  })
