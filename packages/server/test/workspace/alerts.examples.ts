import assert from 'node:assert/strict'
import { call } from '../stage/admin-asking.ts'
import { aName } from '../stage/fixtures.ts'
import { anAlertIn, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

/** Each change is to another value. */
const thresholds = Array.from({ length: 50 }, (_none, at) => at + 6).values()

export const examples = examplesOf('alerts', {
  list: () => ({ query: { state: 'open' } }),
  types: () => ({}),
  settings: () => ({}),
  updateSettings: ({ project }) => ({
    body: { rules: [{ type: 'destination.failing', threshold: thresholds.next().value }] },
    target: project,
  }),
  createChannel: () => ({ body: { channel: 'webhook', name: aName('channel'), url: 'http://127.0.0.1:9/alerts' } }),
  get: anAlertIn,
  mute: (at) => withBody(anAlertIn(at), {}),
  unmute: async (at) => {
    const asked = await anAlertIn(at)
    assert.equal((await call(at, `POST alerts/${asked.params?.['id']}/mute`, { body: {} })).status, 200)
    return asked
  },
})
