import { after, before } from 'node:test'
import type { Database } from '../../src/platform/db.ts'
import { behind } from './fixtures.ts'
import { aWorld, type World, type WorldOptions } from './harness.ts'

type Made = { readonly world: World; readonly database: Database }

/**
 * The stage that all tests of a file or a group share, a server and direct access to its database: it starts before
 * them and stops after them.
 */
export function onWorldStage(prepare: (made: Made) => void | Promise<void>, options: WorldOptions = {}): void {
  const made: { world?: World; database?: Database } = {}
  before(async () => {
    const world = await aWorld(options)
    made.world = world
    const database = behind(world)
    made.database = database
    await prepare({ world, database })
  })
  after(async () => {
    await made.database?.close()
    await made.world?.stop()
  })
}
