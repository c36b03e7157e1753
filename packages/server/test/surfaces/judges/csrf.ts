import assert from 'node:assert/strict'
import { askBy, assertRefused, home, lastAuditRow, ownerOf } from '../../stage/admin-asking.ts'
import { sharedExample } from '../../stage/route-examples.ts'
import type { Judge } from './judge.ts'

export const csrf: Judge = {
  promise: 'a cookie without X-Requested-With changes nothing, whatever the request is',
  about: ({ route }) => route.method !== 'GET',
  judge: async (named) => {
    const asked = await sharedExample(named)
    const by = asked.by ?? (await ownerOf(home))
    assert.ok('headers' in by)
    const { 'x-requested-with': _page, ...cookieAlone } = by.headers
    const had = await lastAuditRow()
    assertRefused(await askBy({ headers: cookieAlone }, named, { asked }), 403, 'csrf_header_missing')
    assert.equal(await lastAuditRow(), had)
  },
}
