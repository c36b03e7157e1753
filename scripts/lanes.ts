import { globSync } from 'node:fs'

/**
 * A test file says by its suffix what it proves, as `kill9.storm.test.ts`; without one it is normal and fast. `npm test`
 * runs the normal lane, `npm run test:push` the share of each lane that `push` names, `npm run test:night` all of them.
 */
export type Lane = {
  readonly name: LaneName
  readonly proves: string
  /** The share that a push runs: all files, those of the touched groups, an eighth of each walk, or this number of files. */
  readonly push: 'all' | 'touched' | 'eighth' | number
  /** Its files load the machine, so each gets a separate process, and few run at a time. */
  readonly isHeavy: boolean
}

export type LaneName = 'normal' | 'extended' | 'walk' | 'broker' | 'plant' | 'storm'

export const LANES: readonly Lane[] = [
  { name: 'normal', proves: 'each promise of the contract at least once', push: 'all', isHeavy: false },
  { name: 'extended', proves: 'ordinary behavior in depth', push: 'touched', isHeavy: false },
  { name: 'walk', proves: 'every screen and every route', push: 'eighth', isHeavy: false },
  { name: 'broker', proves: 'foreign servers that npm does not install', push: 'touched', isHeavy: false },
  { name: 'plant', proves: 'a planted defect is caught', push: 1, isHeavy: true },
  { name: 'storm', proves: 'a promise is true while processes are killed', push: 2, isHeavy: true },
]

/** The simulator proves these too, or a test of the normal lane a part of them, so only the night runs their storms. */
const ONLY_AT_NIGHT = /\/(?:suspend|redeliver|rotate|quota|herd|neighbor|register|programs)\.storm\.test\.ts$/

/** Every test file, in a fixed order. */
export const allFiles: readonly string[] = globSync('packages/**/*.test.ts', {
  exclude: (name) => name === 'node_modules',
}).toSorted()

export function laneOf(file: string): LaneName {
  return LANES.find(({ name }) => file.endsWith(`.${name}.test.ts`))?.name ?? 'normal'
}

export function filesOf(lane: LaneName): readonly string[] {
  return allFiles.filter((file) => laneOf(file) === lane)
}

/** The group of a test: its folder below `test`, or its package. */
export function groupOf(file: string): string {
  const [, name = '', inPackage = '', folder = ''] = /^packages\/([^/]+)\/([^/]+)\/(?:([^/]+)\/)?/.exec(file) ?? []
  return inPackage === 'test' && folder !== '' ? folder : name
}

/** The groups that have files in the lanes of which a push runs only the touched groups. */
export function groupsInDepth(): readonly string[] {
  const touched = LANES.filter(({ push }) => push === 'touched').map(({ name }) => name)
  return [...new Set(allFiles.filter((file) => touched.includes(laneOf(file))).map(groupOf))].toSorted()
}

/** The part of every walk that a push visits, from 0 to 7. */
export const eighthOfPush = (seed: number): number => seed % 8

export type Push = { readonly seed: number; readonly groups: ReadonlySet<string> }

/** The files of a lane that a push runs. The seed decides which storms, which plant and which eighth. */
export function filesOfPush({ name, push }: Lane, { seed, groups }: Push): readonly string[] {
  const files = filesOf(name).filter((file) => !ONLY_AT_NIGHT.test(file))
  // Each walk takes its eighth by itself (`eighthOfPush`).
  if (push === 'all' || push === 'eighth') return files
  if (push === 'touched') return files.filter((file) => groups.has(groupOf(file)))
  return Array.from({ length: Math.min(push, files.length) }, (_, more) => files[(seed + more) % files.length] ?? '')
}
