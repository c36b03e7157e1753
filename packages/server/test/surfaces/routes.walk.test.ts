import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALL } from '../stage/admin-asking.ts'
import { onHouses } from '../stage/houses.ts'
import { EXAMPLES } from '../stage/route-examples.ts'
import { JUDGES } from './judges/index.ts'
import { judgeAll } from './judges/judge.ts'
import { SIGN_IN, SIGN_IN_JUDGES } from './judges/sign-in.ts'

/** One walk through all routes of the admin API: each judge tests one promise on each route. */
onHouses()

/** Deletions come last, so that the resources of random requests exist until then. */
const ROUTES = ALL.toSorted((a, b) => Number(a.route.method === 'DELETE') - Number(b.route.method === 'DELETE'))

test('every route has an example here', () => {
  assert.deepEqual(
    ALL.map(({ name }) => name).filter((name) => EXAMPLES[name] === undefined),
    [],
  )
})

for (const judge of JUDGES) test(judge.promise, () => judgeAll(judge, ROUTES))
for (const judge of SIGN_IN_JUDGES) test(judge.promise, () => judgeAll(judge, SIGN_IN))
