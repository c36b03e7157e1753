import assert from 'node:assert/strict'
import { decodeId, signInRoutes, type SignInRoute } from '@postroad/contract'
import {
  aKey,
  ALL,
  assertRefused,
  call,
  database,
  home,
  lastAuditRow,
  ownerOf,
  world,
} from '../../stage/admin-asking.ts'
import { askAtRandom, operationIds, prepareFuzz } from '../../stage/admin-fuzz.ts'
import { isWhole } from '../../stage/eighths.ts'
import { anotherOwner, aProjectIn } from '../../stage/example-resources.ts'
import { signedIn } from '../../stage/fixtures.ts'
import { assertOutside } from './callers.ts'
import type { Judge } from './judge.ts'
import { operationsOf, RUNS_EACH } from './random-requests.ts'

/** The routes of sign-in and of accounts, which are not in the ladder of the other routes, and have no example. */

type Named = { readonly name: string; readonly route: SignInRoute }

export const SIGN_IN: readonly Named[] = Object.entries<SignInRoute>(signInRoutes).map(([verb, route]) => ({
  name: `signIn.${verb}`,
  route,
}))

const lineOf = ({ route: { method, path } }: Named): string => `${method} ${path.replaceAll(/\{\w+\}/g, 'x')}`

let cookie: string

const csrf: Judge<Named> = {
  promise: 'sign-in: a cookie without X-Requested-With changes nothing',
  about: ({ route }) => route.method !== 'GET',
  around: async (walk) => {
    cookie = (await signedIn(world, await anotherOwner(), database))['cookie'] ?? ''
    await walk()
  },
  judge: async (named) => {
    const had = await lastAuditRow()
    assertRefused(await call({ headers: { cookie } }, lineOf(named), { body: {} }), 403, 'csrf_header_missing')
    assert.equal(await lastAuditRow(), had)
  },
}

let project: string
let keys: readonly string[]

const oneProjectKeys: Judge<Named> = {
  promise: 'sign-in: a key for one project gets the list of the routes that it can use',
  about: ({ route }) => route.caller === 'session',
  around: async (walk) => {
    project = (await aProjectIn(home)).params?.['id'] ?? ''
    const projectId = decodeId('project', project) ?? ''
    keys = [await aKey(home, { role: 'admin', projectId }), await aKey(home, { role: 'viewer', projectId })]
    await walk()
  },
  judge: async (named) => {
    for (const key of keys) {
      const answer = await call({ key }, lineOf(named), { headers: { 'x-requested-with': 'test' } })
      assertRefused(answer, 403, 'project_out_of_scope')
      assertOutside(answer, project)
    }
  },
}

const invalidKeys: Judge<Named> = {
  promise: 'sign-in: an invalid Idempotency-Key gets 400 on every POST',
  about: ({ route }) => route.method === 'POST',
  judge: async (named) => {
    const by = await ownerOf(home)
    const answer = await call(by, lineOf(named), { headers: { 'idempotency-key': 'with a space' }, body: {} })
    assertRefused(answer, 400, 'invalid_idempotency_key')
  },
}

const random: Judge<Named> = {
  promise: 'sign-in: no request causes a 5xx, and every answer agrees with /openapi.json',
  around: async (walk, routes) => {
    await prepareFuzz()
    const judged = [...routes.map(({ name }) => name), ...ALL.flatMap(operationsOf)]
    if (isWhole)
      assert.deepEqual(
        [...operationIds()].filter((id) => !judged.includes(id)),
        [],
      )
    await walk()
  },
  judge: ({ name }) => askAtRandom(name, RUNS_EACH),
}

export const SIGN_IN_JUDGES: readonly Judge<Named>[] = [csrf, oneProjectKeys, invalidKeys, random]
