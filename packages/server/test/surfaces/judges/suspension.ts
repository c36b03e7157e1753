import assert from 'node:assert/strict'
import { sql } from '../../../src/platform/db.ts'
import { ask, assertRefused, call, database, home, type Asked, type Named } from '../../stage/admin-asking.ts'
import { example, sharedExample } from '../../stage/route-examples.ts'
import type { Judge } from './judge.ts'

const examples = new Map<Named, Asked>()

/** A request that is refused does not use up its example. */
const examplesOf = (named: Named): Promise<Asked> =>
  named.route.whileSuspended === 'allowed' ? example(named, home) : sharedExample(named)

export const suspension: Judge = {
  promise: 'while the workspace is suspended reads continue, and each write is refused',
  around: async (walk, routes) => {
    for (const named of routes) examples.set(named, await examplesOf(named))
    await database.run(sql`update workspaces set suspended_at = now()`)
    try {
      await walk()
      assert.equal((await call(home, 'GET me')).body.workspace.suspended, true)
    } finally {
      await database.run(sql`update workspaces set suspended_at = null`)
    }
  },
  judge: async (named) => {
    const answer = await ask(named, home, { asked: examples.get(named) ?? assert.fail() })
    // The invite of the example is to the suspended workspace; an invite to another one can be accepted
    // (people/invites.extended.test.ts).
    if (named.route.whileSuspended === 'refused' || named.name === 'invites.accept')
      assertRefused(answer, 403, 'workspace_suspended')
    else assert.equal(answer.status, named.route.status)
  },
}
