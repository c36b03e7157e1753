import assert from 'node:assert/strict'
import { ask, home } from '../../stage/admin-asking.ts'
import { sharedExample } from '../../stage/route-examples.ts'
import type { Judge } from './judge.ts'

export const queries: Judge = {
  promise: 'unknown query parameters are ignored',
  about: ({ route }) => route.method === 'GET',
  judge: async (named) => {
    const asked = await sharedExample(named)
    const answer = await ask(named, home, { asked: { ...asked, query: { ...asked.query, frobnicate: '1' } } })
    assert.equal(answer.status, 200)
  },
}
