import assert from 'node:assert/strict'
import { ALL, assertRefused, call, home } from '../../stage/admin-asking.ts'
import type { Judge } from './judge.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The methods that an address answers. rules/test is also an address of the form rules/{id}. */
function allowedAt(path: string): readonly string[] {
  const answering = ALL.filter(({ route }) => new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
  // PUT sso/{id} answers too, with 501 whatever the id is (people/sso.test.ts).
  const replaces = /^sso\/[^/]+$/.test(path) ? ['PUT'] : []
  return [...new Set([...answering.map(({ route }) => route.method), ...replaces])].toSorted()
}

export const methods: Judge = {
  promise: 'a method outside the contract gets 405 with the allowed ones',
  // The first route of each path.
  about: (named) => ALL.find(({ route }) => route.path === named.route.path) === named,
  judge: async ({ route: { path } }) => {
    const allowed = allowedAt(path)
    for (const method of METHODS.filter((one) => !allowed.includes(one))) {
      const answer = await call(home, `${method} ${path}`)
      assertRefused(answer, 405, 'method_not_allowed')
      const reported = answer.headers.get('allow')?.split(', ') ?? []
      assert.deepEqual(reported.filter((one) => one !== 'HEAD').toSorted(), allowed, `${method} ${path}`)
    }
  },
}
