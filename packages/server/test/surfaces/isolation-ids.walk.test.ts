import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, type IdKind } from '@postroad/contract'
import { encodeCursor } from '../../src/domain/serving/cursor.ts'
import {
  victim,
  stranger,
  MOUNTED,
  nameOf,
  idsIn,
  shapeOf,
  randomId,
  type Asked,
  paramsOf,
  ofHouse,
  isLookedUp,
  inParallel,
  assertSame,
  victimsRows,
  cases,
  onIsolationStage,
} from '../stage/isolation-matrix.ts'

/** Every route with the ids of other tenants in every place for an id; a new route is included by itself. */
onIsolationStage()

test('an id of another workspace or project in the path gets the same 404 as an unknown id, and nothing changes', async () => {
  const had = await victimsRows()
  const asked = new Set<string>()
  await inParallel(await cases(isLookedUp), async ({ asker: { who, house }, mounted, headers }) => {
    const names = idsIn(mounted, 'params')
    const { project } = house
    // Each id alone is the victim's, then all of them.
    for (const which of [...(names.length > 1 ? names.map(([name]) => [name]) : []), names.map(([name]) => name)]) {
      const params = (others: (kind: IdKind) => string) =>
        Object.fromEntries(names.map(([name, kind]) => [name, (which.includes(name) ? others : ofHouse(house))(kind)]))
      const [theirs, random] = [params(ofHouse(victim)), params(randomId)]
      const struck = [...Object.values(theirs), ...Object.values(random)]
      assert.equal(
        await assertSame(mounted, headers, {
          theirs: { project, params: theirs },
          random: { project, params: random },
          struck,
        }),
        404,
        `${who}: ${nameOf(mounted)}`,
      )
    }
    asked.add(nameOf(mounted))
  })
  assert.deepEqual(
    MOUNTED.filter((one) => isLookedUp(one) && !asked.has(nameOf(one))).map(nameOf),
    [],
    '100 % of the routes with an id',
  )
  assert.deepEqual(await victimsRows(), had)
})

test('the project of another workspace in the path gets the same answer as an unknown project, whatever follows it', async () => {
  const had = await victimsRows()
  await inParallel(
    MOUNTED.filter(({ url }) => url.includes('{project_id}')),
    async (mounted) => {
      const project = randomId('project')
      const theirs = { project: victim.project, params: paramsOf(mounted, ofHouse(victim)) }
      const random = { project, params: paramsOf(mounted, randomId) }
      const struck = [victim.project, project, ...Object.values(theirs.params), ...Object.values(random.params)]
      assert.equal(await assertSame(mounted, stranger.owner, { theirs, random, struck }), 404, nameOf(mounted))
    },
  )
  assert.deepEqual(await victimsRows(), had)
})

test('an id of another tenant in the query or the body gets the same answer as an unknown id', async () => {
  const asked = new Set<string>()
  await inParallel(await cases(() => true), async ({ asker: { house }, mounted, headers }) => {
    const at = { project: house.project, params: paramsOf(mounted, ofHouse(house)) }
    const places = (['query', 'body'] as const).flatMap((place) =>
      idsIn(mounted, place).map(([name, kind]) => ({ place, name, kind })),
    )
    for (const { place, name, kind } of places) {
      const [theirs, random] = [ofHouse(victim)(kind), randomId(kind)]
      await assertSame(mounted, headers, {
        theirs: { ...at, [place]: { [name]: theirs } },
        random: { ...at, [place]: { [name]: random } },
        struck: [theirs, random],
      })
      asked.add(`${mounted.room}.${mounted.verb} ${name}`)
    }
  })
  for (const one of [
    'apiKeys.create project_id',
    'deliveries.list destination_id',
    'records.listOfWebhook view',
    'rules.test rule_id',
  ])
    assert.ok(asked.has(one), one)
})

test("a cursor made from an id of another tenant pages through the caller's own data", async () => {
  const lists = (
    await cases(
      ({ route, url }) =>
        'cursor' in shapeOf(route.query) && (route.area === 'workspace' || url.includes('{project_id}')),
    )
  ).filter(({ asker, headers }) => headers === asker.house.owner)
  assert.ok(lists.length > 10)
  const uuids = Object.entries(victim.ids).map(([kind, id]) => decodeId(kind as IdKind, id) ?? '')
  await inParallel(lists, async ({ asker: { house }, mounted, headers }) => {
    const at = { project: house.project, params: paramsOf(mounted, ofHouse(house)) }
    for (const uuid of uuids) {
      // The next id in the order of ids, which belongs to nobody.
      const beside = `${uuid.slice(0, -1)}${uuid.endsWith('0') ? '1' : '0'}`
      const paged = (one: string): Asked => ({ ...at, query: { cursor: encodeCursor(one) } })
      await assertSame(mounted, headers, { theirs: paged(uuid), random: paged(beside), struck: [] })
    }
  })
})
