import assert from 'node:assert/strict'
import { assertRefused, call, home, pathOf, whoCalls } from '../../stage/admin-asking.ts'
import { sharedExample } from '../../stage/route-examples.ts'
import type { Judge } from './judge.ts'

export const bodies: Judge = {
  promise: 'a body that is not a JSON object, or has an unknown member, is refused, and the error names the fault',
  about: ({ route }) => route.body !== undefined,
  judge: async (named) => {
    const by = await whoCalls(named, home)
    const asked = await sharedExample(named)
    const line = `${named.route.method} ${pathOf(named, asked)}`
    const extra = await call(by, line, { body: { ...asked.body, frobnicate: 1 } })
    assertRefused(extra, 400, 'invalid_request')
    assert.equal(extra.body.error, 'body: unknown field "frobnicate"; remove it.')
    for (const raw of ['{"name":', 'name=x', '\0']) {
      const broken = await call(by, line, { raw })
      assertRefused(broken, 400, 'invalid_request')
      assert.match(broken.body.error, /not valid JSON/)
    }
    for (const raw of ['[]', '"x"', '1', 'null', 'true'])
      assertRefused(await call(by, line, { raw }), 400, 'invalid_request')
    const proto = JSON.stringify({ ...asked.body })
      .replace(/\}$/, ',"__proto__":{"admin":true}}')
      .replace('{,', '{')
    assertRefused(await call(by, line, { raw: proto }), 400, 'invalid_request')
  },
}
