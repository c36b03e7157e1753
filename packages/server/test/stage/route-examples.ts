import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { home, type Asked, type Named, type Place } from './admin-asking.ts'
import type { Example, ExamplesOf } from './examples-of.ts'

/** The runner of the tests loads files without top-level await, so these are required. */
const load = createRequire(import.meta.url)
const FOLDER = join(import.meta.dirname, '..')
const found = globSync('*/*.examples.ts', { cwd: FOLDER }).map(
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each of these files exports its examples
  (file) => (load(join(FOLDER, file)) as { readonly examples: ExamplesOf }).examples,
)

/** The examples of all rooms, by the name of the route. surfaces/routes.walk.test.ts names a route without one. */
export const EXAMPLES: Readonly<Record<string, Example>> = Object.fromEntries(
  found.flatMap(({ room, of }) => Object.entries(of).map(([verb, make]) => [`${room}.${verb}`, make])),
)

export const example = async ({ name }: Named, at: Place): Promise<Asked> =>
  EXAMPLES[name]?.(at) ?? assert.fail(`${name} has no example`)

/** A new export ends those that are stored, so an earlier example would be out of date. */
const NOT_SHARED = new Set(['dataExport.download'])
const shared = new Map<string, Promise<Asked>>()

/** One example of a route in `home`, for all requests that do not use it up. */
export function sharedExample(named: Named): Promise<Asked> {
  const made = shared.get(named.name) ?? example(named, home)
  if (!NOT_SHARED.has(named.name)) shared.set(named.name, made)
  return made
}
