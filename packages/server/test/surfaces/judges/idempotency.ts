import assert from 'node:assert/strict'
import { assertRefused, call, home, ownerOf } from '../../stage/admin-asking.ts'
import type { Judge } from './judge.ts'
import { performed } from './performed.ts'

const invalidKeys: Judge = {
  promise: 'an invalid Idempotency-Key gets 400 on every POST, also where keys have no effect',
  about: ({ route }) => route.method === 'POST',
  judge: async ({ route }) => {
    const line = `POST ${route.path.replaceAll(/\{\w+\}/g, 'x')}`
    const answer = await call(await ownerOf(home), line, { headers: { 'idempotency-key': 'with a space' }, body: {} })
    assertRefused(
      answer,
      400,
      route.refusesIdempotencyKey === true ? 'idempotency_key_refused' : 'invalid_idempotency_key',
    )
    assert.equal(answer.headers.get('idempotent-replayed'), null)
  },
}

/** After these requests the caller may not send them any more, and gets no replay either. */
const ENDS_THE_RIGHT = new Set(['members.transferOwnership', 'workspaces.close'])

const repeats: Judge = {
  promise:
    'a POST that is repeated with its Idempotency-Key gets the same answer, and is not done again; a caller who lost the permission gets no replay',
  about: ({ route }) => route.method === 'POST' && route.refusesIdempotencyKey !== true,
  judge: async (named) => {
    const keyed = (await performed(named)).filter(({ repeated }) => repeated !== undefined)
    assert.ok(keyed.length > 0)
    for (const { answer, repeated } of keyed) {
      const again = repeated?.answer ?? assert.fail()
      const isReplayed = again.headers.get('idempotent-replayed') === 'true'
      assert.equal(isReplayed, !ENDS_THE_RIGHT.has(named.name))
      if (isReplayed) assert.deepEqual([again.status, again.body], [answer.status, answer.body])
      else assert.equal(again.status, 403, again.text)
      assert.equal(answer.headers.get('idempotent-replayed'), null)
      assert.deepEqual(repeated?.added, [])
    }
  },
}

export const idempotency: readonly Judge[] = [invalidKeys, repeats]
