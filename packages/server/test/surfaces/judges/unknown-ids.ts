import assert from 'node:assert/strict'
import type { IdKind } from '@postroad/contract'
import { ask, assertRefused, home, type Named } from '../../stage/admin-asking.ts'
import { ofHouse, victim } from '../../stage/houses.ts'
import { idsIn, isLookedUp } from '../../stage/mounted.ts'
import { sharedExample } from '../../stage/route-examples.ts'
import type { Judge } from './judge.ts'

export const unknownIds: Judge = {
  promise: 'an id of another workspace, an unknown id, an id of another kind and an invalid id get the same 404',
  about: isLookedUp,
  judge: async (named) => {
    const own = await sharedExample(named)
    const kind = (own.params?.['id'] ?? '').slice(0, 3)
    const unknown = `${kind}_${'0'.repeat(26)}`
    const texts = new Set<string>()
    for (const id of [
      // An operator finds the resources of every workspace.
      ...(named.route.operator === true ? [] : [ofHouse(victim)(kindOfId(named))]),
      unknown,
      `usr_${'0'.repeat(26)}`,
      'nonsense',
      `${kind}_`,
      `${unknown}0`,
      unknown.toUpperCase(),
      '%00',
      "'",
    ]) {
      const answer = await ask(named, home, { asked: { ...own, params: { ...own.params, id } } })
      assertRefused(answer, 404, 'not_found')
      texts.add(answer.text)
    }
    assert.equal(texts.size, 1)
  },
}

const kindOfId = (named: Named): IdKind =>
  idsIn(named, 'params').find(([name]) => name === 'id')?.[1] ?? assert.fail(`${named.name} has no id`)
