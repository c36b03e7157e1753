import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { laneOf } from './lanes.ts'

const FILES_IN_A_BATCH = 8
/** A file with a browser or of another lane can take a minute, and a run takes as long as its slowest batch. */
const SLOW_FILES_IN_A_BATCH = 3
/** The tests of the command line share one server, which takes longer to start than one of these files to run. */
const CLI_FILES_IN_A_BATCH = 32

/**
 * Writes entry files into `folder`. Each entry loads some test files of one folder and one lane. Each test file is a suite with its
 * path as its name. A process then loads and compiles the server once for all of them, which takes almost half of the
 * processor time of a file.
 */
export function batched(files: readonly string[], folder: string): readonly string[] {
  const alike = Map.groupBy(files, (file) => `${laneOf(file)} ${file.slice(0, file.lastIndexOf('/'))}`)
  return entriesOf([...alike.values()].flatMap(inEqualParts), folder)
}

/** The same with one file for each entry, for files that load the machine. */
export function alone(files: readonly string[], folder: string): readonly string[] {
  return entriesOf(
    files.map((file) => [file]),
    folder,
  )
}

function entriesOf(batches: readonly (readonly string[])[], folder: string): readonly string[] {
  mkdirSync(folder)
  return batches.map((of, at) => {
    const entry = join(folder, `${at}.mjs`)
    writeFileSync(entry, textOf(of))
    return entry
  })
}

function inEqualParts(files: readonly string[]): readonly (readonly string[])[] {
  const parts = Math.ceil(files.length / atMostIn(files[0] ?? ''))
  return Array.from({ length: parts }, (_, at) => files.filter((_file, index) => index % parts === at))
}

/** The number of files in a batch with this one. */
function atMostIn(file: string): number {
  if (file.startsWith('packages/console/') || laneOf(file) !== 'normal') return SLOW_FILES_IN_A_BATCH
  return file.startsWith('packages/cli/test/') ? CLI_FILES_IN_A_BATCH : FILES_IN_A_BATCH
}

/** The limits for a file that hangs, and for a process that does not end after its last test. */
const FILE_MS_MAX = 1_800_000
const END_MS_MAX = 30_000

/**
 * `require` evaluates a file within its suite. An `import()` would evaluate it later, and register its tests elsewhere.
 * A process that is still alive half a minute after its last test fails, and names what it still has open.
 */
function textOf(files: readonly string[]): string {
  const suites = files.map(
    (file) =>
      `describe(${JSON.stringify(file)}, { timeout: ${FILE_MS_MAX} }, () => void require(${JSON.stringify(resolve(file))}))\n`,
  )
  return `import { after, describe } from 'node:test'
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
${suites.join('')}after(() => {
  setTimeout(() => {
    console.error('The tests ended, but their process did not. Open: ' + process.getActiveResourcesInfo().join(', '))
    console.error(${JSON.stringify(files.join('\n'))})
    process.exit(1)
  }, ${END_MS_MAX}).unref()
})
`
}
