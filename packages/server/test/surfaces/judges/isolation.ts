import assert from 'node:assert/strict'
import { decodeId, type IdKind } from '@postroad/contract'
import { encodeCursor } from '../../../src/domain/serving/cursor.ts'
import type { Mounted } from '../../../src/surfaces/admin/mount.ts'
import type { Named } from '../../stage/admin-asking.ts'
import { isWhole } from '../../stage/eighths.ts'
import { MARK, ofHouse, stranger, victim, victimsRows } from '../../stage/houses.ts'
import {
  askersOfHouses,
  assertSame,
  idsIn,
  isForeignTo,
  isLookedUp,
  mayAsk,
  nameOf,
  paramsOf,
  randomId,
  send,
  shapeOf,
  urlsOf,
  type Asker,
  type Sent,
} from '../../stage/mounted.ts'
import type { Judge } from './judge.ts'

/** Every route with the ids of other tenants in every place for an id, asked by callers with every right at home. */

let askers: readonly Asker[] | undefined

type Case = { readonly asker: Asker; readonly mounted: Mounted }

/** Every asker at every URL of the route that is foreign to them. */
async function casesOf(named: Named): Promise<readonly Case[]> {
  askers ??= await askersOfHouses()
  return askers
    .filter((asker) => mayAsk(named, asker))
    .flatMap((asker) =>
      urlsOf(named)
        .filter((mounted) => isForeignTo(mounted, asker))
        .map((mounted) => ({ asker, mounted })),
    )
}

/** Operators see every workspace, so ids of other tenants prove nothing about their routes. */
const isOfTenants = ({ route }: Named): boolean => route.operator !== true

async function changesNothing(walk: () => Promise<void>): Promise<void> {
  const had = await victimsRows()
  await walk()
  assert.deepEqual(await victimsRows(), had)
}

const foreignPathIds: Judge = {
  promise:
    'an id of another workspace or project in the path gets the same 404 as an unknown id, and changes nothing there',
  about: (named) => isOfTenants(named) && isLookedUp(named),
  around: changesNothing,
  atOnce: 8,
  judge: async (named) => {
    const names = idsIn(named, 'params')
    const all = names.map(([name]) => name)
    const cases = await casesOf(named)
    assert.ok(cases.length > 0)
    for (const { asker, mounted } of cases) {
      const { project } = asker.house
      // Each id alone is the victim's, then all of them.
      for (const which of [...(all.length > 1 ? all.map((name) => [name]) : []), all]) {
        const params = (others: (kind: IdKind) => string): Record<string, string> =>
          Object.fromEntries(
            names.map(([name, kind]) => [name, (which.includes(name) ? others : ofHouse(asker.house))(kind)]),
          )
        const [theirs, random] = [params(ofHouse(victim)), params(randomId)]
        const struck = [...Object.values(theirs), ...Object.values(random)]
        const sent = { theirs: { project, params: theirs }, random: { project, params: random }, struck }
        assert.equal(await assertSame(mounted, asker, sent), 404, `${asker.who}: ${nameOf(mounted)}`)
      }
    }
  },
}

const foreignProject: Judge = {
  promise:
    'the project of another workspace in the path gets the same answer as an unknown project, whatever follows it',
  about: (named) => isOfTenants(named) && named.route.area === 'project',
  around: changesNothing,
  atOnce: 8,
  judge: async (named) => {
    const asker = { who: 'another workspace', house: stranger, headers: stranger.owner, inWorkspace: false }
    for (const mounted of urlsOf(named).filter(({ url }) => url.includes('{project_id}'))) {
      const project = randomId('project')
      const theirs = { project: victim.project, params: paramsOf(named, ofHouse(victim)) }
      const random = { project, params: paramsOf(named, randomId) }
      const struck = [victim.project, project, ...Object.values(theirs.params), ...Object.values(random.params)]
      assert.equal(await assertSame(mounted, asker, { theirs, random, struck }), 404, nameOf(mounted))
    }
  },
}

const PLACES = ['query', 'body'] as const
const asked = new Set<string>()

const foreignMembers: Judge = {
  promise: 'an id of another tenant in the query or the body gets the same answer as an unknown id',
  about: (named) => isOfTenants(named) && PLACES.some((place) => idsIn(named, place).length > 0),
  around: async (walk) => {
    await walk()
    if (!isWhole) return
    for (const one of [
      'apiKeys.create project_id',
      'deliveries.list destination_id',
      'records.listOfWebhook view',
      'rules.test rule_id',
    ])
      assert.ok(asked.has(one), one)
  },
  atOnce: 8,
  judge: async (named) => {
    for (const { asker, mounted } of await casesOf(named)) {
      const at = { project: asker.house.project, params: paramsOf(named, ofHouse(asker.house)) }
      for (const place of PLACES) {
        for (const [name, kind] of idsIn(named, place)) {
          const [theirs, random] = [ofHouse(victim)(kind), randomId(kind)]
          await assertSame(mounted, asker, {
            theirs: { ...at, [place]: { [name]: theirs } },
            random: { ...at, [place]: { [name]: random } },
            struck: [theirs, random],
          })
          asked.add(`${named.name} ${name}`)
        }
      }
    }
  },
}

const foreignCursors: Judge = {
  promise: "a cursor made from an id of another tenant pages through the caller's own data",
  about: (named) => isOfTenants(named) && 'cursor' in shapeOf(named.route.query),
  around: async (walk, routes) => {
    if (isWhole) assert.ok(routes.length > 10)
    await walk()
  },
  atOnce: 8,
  judge: async (named) => {
    const uuids = Object.entries(victim.ids).map(([kind, id]) => decodeId(kind as IdKind, id) ?? '')
    const cases = (await casesOf(named)).filter(
      ({ asker, mounted }) =>
        asker.headers === asker.house.owner &&
        (named.route.area === 'workspace' || mounted.url.includes('{project_id}')),
    )
    assert.ok(cases.length > 0)
    for (const { asker, mounted } of cases) {
      const at = { project: asker.house.project, params: paramsOf(named, ofHouse(asker.house)) }
      for (const uuid of uuids) {
        // The next id in the order of ids, which belongs to nobody.
        const beside = `${uuid.slice(0, -1)}${uuid.endsWith('0') ? '1' : '0'}`
        const paged = (one: string): Sent => ({ ...at, query: { cursor: encodeCursor(one) } })
        await assertSame(mounted, asker, { theirs: paged(uuid), random: paged(beside), struck: [] })
      }
    }
  },
}

/** The members and keys of a workspace are those of all its projects. */
const SHARED = ['user', 'workspace', 'project', 'apiKey', 'invite', 'ssoRequest']

const foreignReads: Judge = {
  promise: 'no read shows any data of other tenants',
  about: (named) => isOfTenants(named) && named.route.method === 'GET',
  atOnce: 8,
  judge: async (named) => {
    for (const { asker, mounted } of await casesOf(named)) {
      const { who, house, inWorkspace, headers } = asker
      const { text } = await send(mounted, headers, { project: house.project, params: paramsOf(named, ofHouse(house)) })
      const shown = Object.entries(victim.ids).filter(
        ([kind, id]) => text.includes(id) && !(inWorkspace && SHARED.includes(kind)),
      )
      assert.deepEqual([shown, text.includes(MARK)], [[], false], `${who}: ${nameOf(mounted)}`)
    }
  },
}

export const isolation: readonly Judge[] = [
  foreignPathIds,
  foreignProject,
  foreignMembers,
  foreignCursors,
  foreignReads,
]
