import assert from 'node:assert/strict'
import { ask, assertRefused, home, itemsOf, LISTS } from '../../stage/admin-asking.ts'
import { aProjectIn } from '../../stage/example-resources.ts'
import { victim } from '../../stage/houses.ts'
import { isLookedUp } from '../../stage/mounted.ts'
import { sharedExample } from '../../stage/route-examples.ts'
import type { Judge } from './judge.ts'

let other: string

export const otherProject: Judge = {
  promise: 'a resource in another project or workspace gets 404, and a list there does not show it',
  about: ({ route }) => route.area === 'project',
  around: async (walk) => {
    other = (await aProjectIn(home)).params?.['id'] ?? ''
    await walk()
  },
  judge: async (named) => {
    for (const project of [victim.project, `prj_${'0'.repeat(26)}`, 'nonsense'])
      assertRefused(await ask(named, home, { asked: { params: {} }, project }), 404, 'not_found')
    if (isLookedUp(named))
      assertRefused(await ask(named, home, { asked: await sharedExample(named), project: other }), 404, 'not_found')
    if (!LISTS.includes(named)) return
    const answer = await ask(named, home, { asked: {}, project: other })
    assert.deepEqual([answer.status, itemsOf(answer)], [200, []])
  },
}
