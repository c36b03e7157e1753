import assert from 'node:assert/strict'
import { call } from '../stage/admin-asking.ts'
import { deliveredOnly, aReplayIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('replays', {
  list: () => ({}),
  create: async (at) => ({ body: { filter: await deliveredOnly(at) } }),
  get: aReplayIn,
  pause: aReplayIn,
  resume: async (at) => {
    const asked = await aReplayIn(at)
    assert.equal((await call(at, `POST deliveries/replays/${asked.params?.['id']}/pause`)).status, 200)
    return asked
  },
  cancel: aReplayIn,
})
