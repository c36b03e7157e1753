import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { VerificationSettings } from '@postroad/contract'
import { BODY, NOW, SECRET, SENDERS } from '../../server/test/stage/signed-requests.ts'
import { isSignable, signRequest, validateSecretForm, verifySignature } from '../src/sync.ts'

describe('a request that is signed for an endpoint passes its verification, but only with its own body', () => {
  for (const [name, sender] of Object.entries(SENDERS)) {
    test(name, () => {
      const settings = VerificationSettings.parse(sender.settings)
      if (settings.scheme === 'none' || !isSignable(settings)) return assert.fail()
      const headers = signRequest({ settings, secret: SECRET, id: 'msg_1', body: BODY, nowSeconds: NOW })
      const request = { settings, secrets: [SECRET], headers, nowSeconds: NOW }
      assert.equal(verifySignature({ ...request, body: BODY }), undefined)
      assert.equal(verifySignature({ ...request, body: Buffer.concat([BODY, BODY]) })?.reason, 'bad_signature')
      assert.ok(!JSON.stringify(headers).includes(SECRET))
    })
  }
})

test('a whsk_ key signs as the specification shows it, and only the public key of the pair accepts it', () => {
  const settings = { scheme: 'standard_webhooks', tolerance_seconds: 300 } as const
  const [id, body] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', Buffer.from('{"test": 2432232314}')]
  const secret = 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=='
  const headers = signRequest({ settings, secret, id, body, nowSeconds: 1_614_265_330 })
  assert.equal(
    headers['webhook-signature'],
    'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
  )
  assert.equal(validateSecretForm(settings, 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4='), undefined)
  assert.match(validateSecretForm(settings, secret) ?? '', /Copy the public key/)
  assert.match(validateSecretForm(settings, 'whpk_AAAA') ?? '', /32 bytes/)
})
