import { after, before } from 'node:test'
import type { Database } from '../../src/platform/db.ts'
import { behind } from './fixtures.ts'
import { aSink, aWorld, type Sink, type World, type WorldOptions } from './harness.ts'

type Made = {
  readonly world: World
  /** Direct access to its database. */
  readonly database: Database
  readonly sink: Sink
  /** Ends something that the stage also needs, before the server stops. */
  readonly atEnd: (end: () => unknown) => void
}

/**
 * The stage that all tests of a file or a group share: a server, direct access to its database, and a receiver. It starts before
 * them and stops after them.
 */
export function onWorldStage(prepare: (made: Made) => void | Promise<void>, options: WorldOptions = {}): void {
  const ends: (() => unknown)[] = []
  const atEnd: Made['atEnd'] = (end) => void ends.unshift(end)
  before(async () => {
    const sink = await aSink()
    atEnd(() => sink.stop())
    const world = await aWorld(options)
    atEnd(() => world.stop())
    const database = behind(world)
    atEnd(() => database.close())
    await prepare({ world, database, sink, atEnd })
  })
  after(async () => {
    for (const end of ends) await end()
  })
}
