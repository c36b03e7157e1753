import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { PLATFORMS } from './platforms.ts'
import type { Scheme } from '../src/index.ts'

/** Every vector that a provider, its library or its documentation published, on every platform. */
type Vector = {
  readonly id: string
  readonly scheme?: Scheme['scheme']
  readonly surface?: 'ingest_key' | 'outbound'
  readonly config?: object
  readonly secret: string
  readonly now?: number
  readonly body: string
  readonly headers: Record<string, string>
  readonly url?: string
  readonly expect: string
}

const read = (file: string): readonly Vector[] =>
  JSON.parse(readFileSync(new URL(`vectors/${file}`, import.meta.url), 'utf8'))
/** Signatures of Postroad's own surfaces are in `signature.test.ts`. */
const VECTORS = [...read('signatures.json'), ...read('providers.json')].filter(({ surface }) => surface === undefined)

let checked = 0
after(() => console.log(`${checked} published vectors checked on ${PLATFORMS.length} platforms`))

for (const [name, { verify }] of PLATFORMS)
  describe(`published vectors on ${name}`, () => {
    for (const { id, scheme = 'none', config, secret, now = 1_700_000_000, body, headers, url, expect } of VECTORS)
      test(id, async () => {
        const sender = { scheme, ...config } as Scheme
        const asked = { sender, secret, headers, body, now: now * 1_000, ...(url === undefined ? {} : { url }) }
        const verdict = await verify(asked)
        checked += name === 'Node' ? 1 : 0
        if (verdict.state === 'failed')
          return assert.ok(
            expect.split('_or_').some((one) => verdict.reason.includes(one)),
            `${expect}: ${verdict.reason}`,
          )
        assert.equal(expect, 'ok')
        // A vector that passes with another body proves nothing.
        const changed = await verify({ ...asked, body: `${body} ` })
        assert.equal(changed.state, 'failed')
      })
  })
