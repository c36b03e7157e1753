import assert from 'node:assert/strict'
import { SERVICE_VERSION } from '@postroad/contract'
import { assertRefused, call, home, pathOf } from '../../stage/admin-asking.ts'
import type { Judge } from './judge.ts'

export const serviceVersion: Judge = {
  promise: 'a route refuses every Service-Version but the served one, with the list',
  judge: async (named) => {
    const refused = await call(home, `${named.route.method} ${pathOf(named, {})}`, {
      headers: { 'service-version': '2020-01-01' },
    })
    assertRefused(refused, 400, 'unsupported_version')
    assert.deepEqual(refused.body.supported_versions, [SERVICE_VERSION])
  },
  around: async (walk) => {
    await walk()
    assert.equal((await call(home, 'GET me', { headers: { 'service-version': SERVICE_VERSION } })).status, 200)
  },
}
