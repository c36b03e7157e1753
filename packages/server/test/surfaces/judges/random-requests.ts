import assert from 'node:assert/strict'
import type { Named } from '../../stage/admin-asking.ts'
import { askAtRandom, prepareFuzz, statuses } from '../../stage/admin-fuzz.ts'
import { isWhole } from '../../stage/eighths.ts'
import type { Judge } from './judge.ts'

export const RUNS_EACH = 8

const countOf = (...some: readonly number[]): number =>
  some.reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0)

/** The operations of a route: under its project and, for the Default project, under the root. */
export const operationsOf = ({ name, route }: Named): readonly string[] =>
  route.area === 'project' ? [name, `${name}.default`] : [name]

export const randomRequests: Judge = {
  promise:
    'no request causes a 5xx, every answer agrees with /openapi.json, and an admitted caller calls each operation',
  around: async (walk) => {
    await prepareFuzz()
    await walk()
    // Some of the random requests are accepted.
    const isMixed = isWhole ? [200, 201, 400, 404].every((status) => countOf(status) > 20) : countOf(200, 201) > 0
    assert.ok(isMixed, JSON.stringify([...statuses]))
  },
  judge: async (named) => {
    for (const operationId of operationsOf(named)) await askAtRandom(operationId, RUNS_EACH)
  },
}
