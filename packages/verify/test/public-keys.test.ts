import assert from 'node:assert/strict'
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import { aCertificate } from '../../server/test/stage/provider-stage.ts'
import type { Scheme } from '../src/index.ts'
import { PLATFORMS, type Verify } from './platforms.ts'

/** A public key in each form in which providers hand it out, on every platform. */

const BODY = '{"order":"A-1001"}'
const KEYS = {
  ed25519: generateKeyPairSync('ed25519'),
  ecdsa_sha256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  rsa_sha256: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
}
type Algorithm = keyof typeof KEYS
const ALGORITHMS = ['ed25519', 'ecdsa_sha256', 'rsa_sha256'] as const

const text = (key: KeyObject, type: 'spki' | 'pkcs1'): string => String(key.export({ type, format: 'pem' }))
const der = (key: KeyObject, type: 'spki' | 'pkcs1' = 'spki'): Buffer => key.export({ type, format: 'der' })

/** The bytes of a key without a structure, which are the end of its DER. */
const BARE = { ed25519: 32, ecdsa_sha256: 65 } as const

function formsOf(algorithm: Algorithm): Readonly<Record<string, string>> {
  const { publicKey: key } = KEYS[algorithm]
  const pem = text(key, 'spki')
  const common = {
    PEM: pem,
    'PEM with CRLF': pem.replaceAll('\n', '\r\n'),
    'PEM with \\n written out': pem.replaceAll('\n', '\\n'),
    'PEM in base64': Buffer.from(pem).toString('base64'),
    'DER in base64': der(key).toString('base64'),
    'DER in lines of base64': pem.replaceAll(/-----.*-----/g, ''),
    'DER in hex': der(key).toString('hex'),
    JWK: JSON.stringify(key.export({ format: 'jwk' })),
    'a set with one JWK': JSON.stringify({ keys: [key.export({ format: 'jwk' })] }),
  }
  if (algorithm === 'rsa_sha256')
    return {
      ...common,
      'PEM of PKCS #1': text(key, 'pkcs1'),
      'PKCS #1 in base64': der(key, 'pkcs1').toString('base64'),
    }
  const bare = der(key).subarray(-BARE[algorithm])
  return { ...common, 'bare bytes in hex': bare.toString('hex'), 'bare bytes in base64': bare.toString('base64') }
}

const signatureBy = (algorithm: Algorithm, body = BODY): string =>
  sign(algorithm === 'ed25519' ? null : 'sha256', Buffer.from(body), KEYS[algorithm].privateKey).toString('base64')

const senderOf = (algorithm: Algorithm): Scheme => ({ scheme: 'public_key', algorithm, encoding: 'base64' })

const stateWith =
  (load: () => Promise<Verify>) =>
  async (algorithm: Algorithm, secret: string, signature: string): Promise<string> => {
    const { verify } = await load()
    const headers = { 'x-signature': signature }
    return (await verify({ sender: senderOf(algorithm), secret, body: BODY, headers })).state
  }

for (const [platform, load] of PLATFORMS)
  describe(platform, () => {
    const stateOf = stateWith(load)

    for (const algorithm of ALGORITHMS)
      for (const [form, secret] of Object.entries(formsOf(algorithm)))
        test(`${algorithm}: ${form}`, async () => {
          // The forged signature comes first: nothing that is remembered of a key may answer for its signature.
          assert.equal(await stateOf(algorithm, secret, signatureBy(algorithm, 'another body')), 'failed')
          assert.equal(await stateOf(algorithm, secret, signatureBy(algorithm)), 'verified')
          assert.equal(await (await load()).secretProblem(senderOf(algorithm), secret), undefined)
        })

    test('requests that are checked at the same time get their own answers', async () => {
      const secret = formsOf('ecdsa_sha256')['PEM'] ?? ''
      const bodies = [BODY, 'forged', BODY, 'forged']
      const signatures = bodies.map((body) => signatureBy('ecdsa_sha256', body))
      const states = await Promise.all(signatures.map((signature) => stateOf('ecdsa_sha256', secret, signature)))
      assert.deepEqual(states, ['verified', 'failed', 'verified', 'failed'])
    })

    test('an ECDSA signature as r and s, without DER', async () => {
      const key = { key: KEYS.ecdsa_sha256.privateKey, dsaEncoding: 'ieee-p1363' as const }
      const raw = sign('sha256', Buffer.from(BODY), key).toString('base64')
      assert.equal(await stateOf('ecdsa_sha256', formsOf('ecdsa_sha256')['PEM'] ?? '', raw), 'verified')
    })

    test('the certificate of an RSA key', async () => {
      const { cert, key } = aCertificate('hooks.example.com')
      const signature = sign('sha256', Buffer.from(BODY), key).toString('base64')
      assert.equal(await stateOf('rsa_sha256', cert, signature), 'verified')
      assert.equal(await stateOf('rsa_sha256', cert, signatureBy('rsa_sha256')), 'failed')
    })

    test('a key of another kind, a short RSA key, a private key and a text that is no key are refused with a sentence', async () => {
      const short = text(generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey, 'spki')
      const secret = String(KEYS.rsa_sha256.privateKey.export({ type: 'pkcs8', format: 'pem' }))
      const { secretProblem } = await load()
      for (const bad of [short, secret, formsOf('ed25519')['PEM'] ?? '', 'a secret', '{}', '{"keys":[]}', '-----BEGIN'])
        assert.match(
          (await secretProblem(senderOf('rsa_sha256'), bad)) ?? '',
          /RSA public key of at least 2,048 bits/,
          bad,
        )
    })
  })
