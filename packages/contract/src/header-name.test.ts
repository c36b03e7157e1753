import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DestinationAuth } from './destination-auth.ts'
import { Headers } from './destination-settings.ts'
import { Idempotency, IdempotencySetting } from './idempotency.ts'
import { VerificationCreate, VerificationPatch, VerificationSettings } from './verification.ts'

const ODD = ["x'y", 'x"y', 'x`y', 'x$y', 'x|y', '$(id)', 'x y', 'x:y', '@x', 'x\ny', 'é', '']
const PLAIN = ['X-Signature', 'x_a.b~c', '!#%&*+^']
const SAYS = /The header is the name of a request header, such as \S+\. Use letters, digits and hyphens; quotes/

/** Each setting that contains the name of a header. */
const PLACES = {
  'verification of a new endpoint': (header: string) =>
    VerificationCreate.safeParse({ scheme: 'hmac', header, secret: 's' }),
  'verification of a changed endpoint': (header: string) => VerificationPatch.safeParse({ scheme: 'hmac', header }),
  idempotency: (header: string) => IdempotencySetting.safeParse({ header }),
  'headers of a destination': (header: string) => Headers.safeParse({ [header]: 'x' }),
  'auth of a destination': (header: string) => DestinationAuth.safeParse({ kind: 'header', header, value: 'x' }),
}

for (const [place, parse] of Object.entries(PLACES)) {
  test(`the name of a header is a token that every shell reads as plain text: ${place}`, () => {
    for (const name of PLAIN) assert.equal(parse(name).success, true, name)
    for (const name of ODD) {
      const { success, error } = parse(name)
      assert.equal(success, false, name)
      assert.match(error?.issues[0]?.message ?? '', SAYS, name)
    }
    assert.match(parse('x'.repeat(129)).error?.issues[0]?.message ?? '', /at most 128 characters/)
  })
}

test('an odd name that is already stored stays visible and valid', () => {
  assert.equal(VerificationSettings.parse({ scheme: 'hmac', header: "x'$|`y" }).scheme, 'hmac')
  assert.equal(Headers.safeParse({ "x'$|`y": null }).success, true)
  assert.deepEqual(Idempotency.parse({ header: "x'$|`y" }), { header: "x'$|`y" })
})
