import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADDITIVE_DEFAULTS } from '@postroad/verify/described-content'
import { ADDITIVE_SCHEMES, VERIFICATION_SCHEMES } from './schemes.ts'
import {
  patchVerification,
  Verification,
  VerificationCreate,
  VerificationPatch,
  VerificationSettings,
  verificationSettings,
} from './verification.ts'

type Form = {
  safeParse: (
    sent: unknown,
  ) => ReturnType<typeof VerificationCreate.safeParse> | ReturnType<typeof VerificationPatch.safeParse>
}

function refusal(form: Form, sent: unknown): string {
  const parsed = form.safeParse(sent)
  assert.equal(parsed.success, false, JSON.stringify(sent))
  return parsed.error?.issues[0]?.message ?? ''
}

const VERIFYING = VERIFICATION_SCHEMES.filter((scheme) => scheme !== 'none')
/** The settings without a default. */
const requiredOf = (scheme: string): object =>
  scheme === 'oidc_bearer' ? { issuer: 'https://accounts.google.com' } : {}
const WITH_TOLERANCE = ['payments_provider', 'chat_platform', 'standard_webhooks']

test('the schema accepts every scheme with a secret of 1 to 512 characters', () => {
  for (const scheme of VERIFYING) {
    for (const secret of ['x', 'x'.repeat(512)])
      assert.ok(VerificationCreate.safeParse({ scheme, ...requiredOf(scheme), secret }).success, scheme)
    for (const secret of ['', 'x'.repeat(513), 5])
      assert.notEqual(refusal(VerificationCreate, { scheme, ...requiredOf(scheme), secret }), '')
  }
})

test('turning a scheme on requires either a secret or without_secret', () => {
  for (const scheme of VERIFYING) {
    assert.match(refusal(VerificationCreate, { scheme, ...requiredOf(scheme) }), /needs a secret/)
    assert.ok(VerificationCreate.safeParse({ scheme, ...requiredOf(scheme), without_secret: true }).success)
    assert.match(
      refusal(VerificationCreate, { scheme, ...requiredOf(scheme), secret: 's', without_secret: true }),
      /not both/,
    )
    assert.match(
      refusal(VerificationCreate, { scheme, ...requiredOf(scheme), without_secret: false }),
      /true or left out/,
    )
  }
})

test('the schema refuses without_secret with scheme none and on PATCH', () => {
  assert.match(refusal(VerificationCreate, { scheme: 'none', without_secret: true }), /does not apply/)
  for (const scheme of VERIFICATION_SCHEMES)
    assert.match(refusal(VerificationPatch, { scheme, without_secret: true }), /does not apply/)
})

test('the schema refuses and names settings that do not apply to the scheme', () => {
  const settings = { header: 'X-A', algorithm: 'sha1', encoding: 'base64', prefix: 'p=', tolerance_seconds: 60 }
  for (const scheme of VERIFICATION_SCHEMES.filter((one) => !ADDITIVE_SCHEMES.some((added) => added === one))) {
    for (const [name, value] of Object.entries(settings)) {
      const applies = name === 'tolerance_seconds' ? WITH_TOLERANCE.includes(scheme) : scheme === 'hmac'
      const secret = scheme === 'none' ? {} : { secret: 's' }
      if (applies)
        assert.ok(VerificationCreate.safeParse({ scheme, ...secret, [name]: value }).success, `${scheme} ${name}`)
      else
        assert.match(
          refusal(VerificationCreate, { scheme, ...secret, [name]: value }),
          new RegExp(`"${name}" does not apply to the scheme ${scheme}`),
        )
    }
  }
})

test('the tolerance is 30 to 86400 seconds, 300 by default', () => {
  for (const scheme of WITH_TOLERANCE) {
    for (const tolerance_seconds of [29, 86_401, 60.5, '60'])
      assert.notEqual(refusal(VerificationCreate, { scheme, secret: 's', tolerance_seconds }), '')
    for (const tolerance_seconds of [30, 86_400])
      assert.ok(VerificationCreate.safeParse({ scheme, secret: 's', tolerance_seconds }).success)
    assert.deepEqual(VerificationSettings.parse({ scheme }), { scheme, tolerance_seconds: 300 })
  }
})

test('hmac defaults to X-Signature, sha256, hex and no prefix; the prefix has at most 32 characters', () => {
  const settings = verificationSettings(VerificationCreate.parse({ scheme: 'hmac', secret: 's' }))
  assert.deepEqual(settings, {
    scheme: 'hmac',
    header: 'X-Signature',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: '',
  })
  assert.ok(VerificationCreate.safeParse({ scheme: 'hmac', secret: 's', prefix: 'p'.repeat(32) }).success)
  for (const wrong of [
    { prefix: 'p'.repeat(33) },
    { header: 'no spaces' },
    { header: '' },
    { algorithm: 'md5' },
    { encoding: 'base32' },
  ]) {
    assert.notEqual(refusal(VerificationCreate, { scheme: 'hmac', secret: 's', ...wrong }), '')
  }
})

test('whsec_ is followed by base64', () => {
  assert.ok(
    VerificationCreate.safeParse({ scheme: 'standard_webhooks', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' })
      .success,
  )
  assert.match(
    refusal(VerificationCreate, { scheme: 'standard_webhooks', secret: 'whsec_not base64' }),
    /must be base64/,
  )
  assert.match(refusal(VerificationPatch, { scheme: 'standard_webhooks', secret: 'whsec_' }), /must be base64/)
})

test('the schema refuses an unknown scheme and an unknown property', () => {
  assert.match(refusal(VerificationCreate, { scheme: 'rot13' }), /scheme is one of none/)
  assert.match(refusal(VerificationCreate, {}), /scheme is one of none/)
  assert.match(refusal(VerificationCreate, { scheme: 'code_host', secret: 's', url: 'x' }), /no property "url"/)
})

test('the settings that are stored and exported cannot contain a secret', () => {
  for (const name of ['secret', 'without_secret', 'has_secret']) {
    assert.equal(VerificationSettings.safeParse({ scheme: 'code_host', [name]: 'x' }).success, false)
  }
})

test('a PATCH retains the settings that it leaves out; another scheme starts from its defaults and needs a secret', () => {
  const held = VerificationSettings.parse({ scheme: 'hmac', header: 'X-A', algorithm: 'sha1', prefix: 'a=' })
  const changed = patchVerification({ held, patch: VerificationPatch.parse({ scheme: 'hmac', prefix: 'b=' }) })
  assert.deepEqual(changed, { settings: { ...held, prefix: 'b=' } })

  const switched = patchVerification({ held, patch: VerificationPatch.parse({ scheme: 'chat_platform', secret: 's' }) })
  assert.deepEqual(switched, { settings: { scheme: 'chat_platform', tolerance_seconds: 300 } })
  const refused = patchVerification({ held, patch: VerificationPatch.parse({ scheme: 'chat_platform' }) })
  assert.ok('error' in refused && refused.error.includes('needs its secret'))
  assert.deepEqual(patchVerification({ held, patch: { scheme: 'none' } }), { settings: { scheme: 'none' } })
})

test('a returned verification never shows a secret', () => {
  const shown = Verification.parse({
    scheme: 'code_host',
    has_secret: true,
    previous_secret_expires_at: null,
    secret: 's',
  })
  assert.deepEqual(shown, { scheme: 'code_host', has_secret: true, previous_secret_expires_at: null })
})

test('the schema refuses a described content whose settings do not fit together, with the reason', () => {
  const sentences: readonly (readonly [object, RegExp])[] = [
    [{ signed: '{timestamp}.{body}' }, /set "timestamp_header", "timestamp_item" or "timestamp_path"/],
    [{ timestamp_header: 'X-Time' }, /not signed, so anybody could change it/],
    [{ signed: '{timestamp}.{body}', timestamp_item: 't' }, /needs a "signature_item"/],
    [
      { signed: '{timestamp}{body}', timestamp_header: 'X-T', timestamp_item: 't', signature_item: 'v1' },
      /set one of "timestamp_header", "timestamp_item" and "timestamp_path"/,
    ],
    [{ signed: '{id}.{body}' }, /set "id_header"/],
    [{ id_header: 'X-Id' }, /The id is not signed/],
    [{ tolerance_seconds: 300 }, /set "tolerance_seconds" to null/],
    [{ signed: '{timestamp}' }, /\{body\} or \{form\} exactly once/],
    [{ signed: '{body.a..b}' }, /has the dot path/],
    [{ signature_path: 'a..b' }, /A path is that of a member/],
    [{ signature_path: '$request.method' }, /A path is that of a member/],
    [{ signed: '{body}{body}' }, /exactly once/],
    [{ signed: '{body}{secret}' }, /has the parts/],
    [{ encoding: 'base32' }, /encoding is one of/],
    [{ header: 'no spaces' }, /name of a request header/],
  ]
  for (const [settings, sentence] of sentences)
    assert.match(refusal(VerificationCreate, { scheme: 'custom_hmac', secret: 's', ...settings }), sentence)
  const fits = {
    scheme: 'custom_hmac',
    secret: 's',
    signed: '{timestamp}.{body}',
    timestamp_item: 't',
    signature_item: 'v1',
  }
  assert.ok(VerificationCreate.safeParse(fits).success)
  assert.deepEqual(VerificationSettings.parse({ scheme: 'static_token', header: 'X-Gitlab-Token' }), {
    scheme: 'static_token',
    header: 'X-Gitlab-Token',
    prefix: '',
  })
})

test('the schema refuses a PATCH of a described content whose old settings do not fit the new ones', () => {
  const held = VerificationSettings.parse({
    scheme: 'custom_hmac',
    signed: '{timestamp}.{body}',
    timestamp_header: 'X-Time',
  })
  const patch = (sent: object) =>
    patchVerification({ held, patch: VerificationPatch.parse({ scheme: 'custom_hmac', ...sent }) })
  const refused = patch({ timestamp_header: null })
  assert.ok('error' in refused && refused.error.includes('{timestamp}'))
  assert.deepEqual(patch({ timestamp_header: null, signed: '{body}' }), {
    settings: { ...held, signed: '{body}', timestamp_header: null },
  })
})

test('the defaults that forms start with are those of the schemas', () => {
  for (const scheme of ADDITIVE_SCHEMES) {
    const own = requiredOf(scheme)
    assert.deepEqual(VerificationSettings.parse({ scheme, ...own }), { scheme, ...own, ...ADDITIVE_DEFAULTS[scheme] })
  }
})
