import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { createPlaces } from '../../src/surfaces/stream/places.ts'
import { behind } from '../stage/fixtures.ts'
import { atGate, tableGate } from '../stage/gates.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The places of the clients of streams: a workspace may open many more streams at once than its plan allows. */
let world: World
let database: Database
/** Two connections. */
let few: Database
onWorldStage((made) => {
  ;({ world, database } = made)
  few = behind(world)
  made.atEnd(() => few.close())
})

const AT_ONCE = 200
const MAX = 2

test('of many streams that are opened at once, as many as the plan allows get a place, and one at a time asks for it', async () => {
  const places = createPlaces({ ...world.app.deps, database: few })
  const workspaceId = decodeId('workspace', world.installed.workspace.id) ?? ''
  const take = () => Promise.all(Array.from({ length: AT_ONCE }, () => places.take(workspaceId, MAX)))
  const taking = await atGate(database, tableGate('stream_connections'), async (gate) => {
    const asked = take()
    await gate.waiting()
    assert.deepEqual(await few.one(sql`select 1 as free`), { free: 1 })
    assert.equal(await gate.count(), 1)
    return [asked]
  })
  const [taken = []] = await Promise.all(taking)
  const got = taken.filter((place) => place !== undefined)
  assert.equal(got.length, MAX)
  const later = await take()
  assert.ok(later.every((place) => place === undefined))
  for (const place of got) places.leave(place)
  // The places leave in statements that nobody waits for, and these come after them.
  await few.one(sql`select 1 as free`)
  assert.equal((await take()).filter((place) => place !== undefined).length, MAX)
})
