import { hash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

export const SERVER = resolve(import.meta.dirname, '..')
const PACKAGES = resolve(SERVER, '..')

/** The attributes of a file that change when anybody writes to it. */
export type Stat = { readonly size: number; readonly mtimeMs: number; readonly ctimeMs: number; readonly ino: number }

/** A file from which a bundle was made. Its path is relative to the folder of the packages. */
export type Input = { readonly path: string; readonly stat: Stat; readonly hash: string }

export const hashOf = (bytes: Buffer): string => hash('sha256', bytes)

/** The files besides the sources: what builds, what describes our packages, and the versions of the libraries. */
export function otherInputs(): readonly Input[] {
  const files = [
    ...globSync('build/*.ts', { cwd: SERVER }).map((name) => join(SERVER, name)),
    // Whether an unused module may be left out.
    ...globSync('{contract,server,verify}/package.json', { cwd: PACKAGES }).map((name) => join(PACKAGES, name)),
    join(PACKAGES, '../package-lock.json'),
  ]
  return files.toSorted().map((file) => {
    const stat = statSync(file)
    return { path: relative(PACKAGES, file), stat, hash: hashOf(readFileSync(file)) }
  })
}

/**
 * The inputs as they are now, if their contents are unchanged; undefined when one is changed or gone. A file with the attributes
 * of its record is not read again, so this takes some milliseconds.
 */
export function unchanged(inputs: readonly Input[]): readonly Input[] | undefined {
  const now: Input[] = []
  for (const input of inputs) {
    const file = join(PACKAGES, input.path)
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined) return undefined
    if (!isSame(stat, input.stat) && hashOf(readFileSync(file)) !== input.hash) return undefined
    now.push(isSame(stat, input.stat) ? input : { ...input, stat })
  }
  return now
}

const isSame = (a: Stat, b: Stat): boolean =>
  a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino
