import assert from 'node:assert/strict'
import type { Judge } from './judge.ts'

export const flags: Judge = {
  promise: 'a route that changes data is not a GET, and a route that changes nothing never answers 201',
  judge: ({ route }) => {
    if (route.method === 'GET') assert.equal(route.whileSuspended, 'read')
    if (route.whileSuspended === 'read') assert.equal(route.status, 200)
  },
}
