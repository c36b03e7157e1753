import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { VerificationSettings } from '@postroad/contract'
import { BODY, NOW, SECRET, SENDERS } from '../../server/test/stage/signed-requests.ts'
import { isSignable, signRequest, verifySignature } from '../src/sync.ts'

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
