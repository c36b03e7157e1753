import assert from 'node:assert/strict'
import { idsIn, shapeOf } from '../../stage/mounted.ts'
import type { Judge } from './judge.ts'

const PLACES = ['params', 'query', 'body'] as const

/** Without it, the judges of isolation would not send a new kind of id at all. */
export const knownIds: Judge = {
  promise: 'the walk knows every id that a route takes',
  // Operators see every workspace, so ids of other tenants prove nothing about their routes.
  about: ({ route }) => route.operator !== true,
  judge: (named) => {
    const members = PLACES.flatMap((place) =>
      // A customer_id is text that the owner of a portal chose, and belongs to the portal in the path.
      Object.keys(shapeOf(named.route[place])).filter(
        (name) => /(^|_)ids?$|^view$/.test(name) && name !== 'customer_id',
      ),
    )
    const known = PLACES.flatMap((place) => idsIn(named, place).map(([name]) => name))
    const inPath = [...named.route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    assert.deepEqual(
      [...members, ...inPath.filter((name) => name !== 'version')].filter((name) => !known.includes(name)),
      [],
      'It takes an id of no known kind; add it to PLAIN.',
    )
  },
}
