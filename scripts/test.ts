import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { batched, batchedLong } from './test-batches.ts'
import { lineOf, sumOf, without, type Result } from './test-counts.ts'

/**
 * Runs tests on node's own runner, with one PostgreSQL and one browser for all files. The last line is `N passed, N failed`.
 *
 * - `npm test` runs every test but the long ones; `npm run test:long` runs the files named `*.long.test.ts`.
 * - `npm run test:all` runs both, and its last line counts both. A file that fails runs once more, and the end of the
 *   output names it (docs/adr/0310).
 * - `npm run test:unit` runs the tests beside their source. They need no database, no server and no browser.
 *
 * NAME… after `--` selects the files whose path contains one of them. A test that hangs fails.
 */
type Part = {
  readonly files: readonly string[]
  readonly flags: readonly string[]
  /** The entry file of each process. */
  readonly entries?: (files: readonly string[], folder: string) => readonly string[]
}

/** Most files wait for a server or for a receiver: three at a time keep two cores busy. */
const FILES_AT_ONCE = 3
const TEST_MS_MAX = 600_000
/**
 * Every file, and every server that a test starts, loads the same modules: Node stores their compiled code for the next
 * one.
 */
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))
const LONG = '.long.test.ts'
const BESIDE_SOURCE = /^packages\/[^/]+\/src\//
/** These files depend on nothing but their seeds, so they fail every time or never. */
const DETERMINISTIC = /^packages\/(?:[^/]+\/src|server\/sim)\//
/** If more files fail, something is broken, and a second attempt would only take time. */
const REPEATED_FILES_MAX = 4

const SETUP = ['--test-global-setup=scripts/test-setup.ts', `--test-concurrency=${FILES_AT_ONCE}`]

const given = process.argv.slice(2)
const names = given.filter((word) => !word.startsWith('--'))
const [lane = 'normal'] = ['unit', 'long', 'all'].filter((name) => given.includes(`--${name}`))
const flags = given.filter((word) => word.startsWith('--') && word !== `--${lane}`)

// A watched run has no entries, so that a change runs only the files that it affects.
const isWatched = flags.includes('--watch')

const all = globSync('packages/**/*.test.ts', { exclude: (name) => name === 'node_modules' }).toSorted()
const long: Part = {
  files: all.filter((file) => file.endsWith(LONG)),
  flags: SETUP,
  ...(isWatched ? {} : { entries: batchedLong }),
}
const normal: Part = {
  files: all.filter((file) => !file.endsWith(LONG)),
  flags: SETUP,
  ...(isWatched ? {} : { entries: batched }),
}
/** Two processes run all unit tests, one for each core: starting one for each file would take longer than the tests. */
const unit: readonly Part[] = ['1/2', '2/2'].map((shard) => ({
  files: normal.files.filter((file) => BESIDE_SOURCE.test(file)),
  flags: ['--test-isolation=none', `--test-shard=${shard}`],
}))
const lanes: Readonly<Record<string, readonly Part[]>> = {
  normal: [normal],
  long: [long],
  unit,
  all: [normal, long],
}

const parts = (lanes[lane] ?? []).map((part) => ({
  ...part,
  files: part.files.filter((file) => names.length === 0 || names.some((name) => file.includes(name))),
}))
const unknown = names.find((name) => !parts.some(({ files }) => files.some((file) => file.includes(name))))
if (unknown === undefined) process.exitCode = await runAll(parts.filter(({ files }) => files.length > 0))
else {
  const isLong = lane !== 'long' && long.files.some((file) => file.includes(unknown))
  const hint = isLong ? ` Run the long ones with npm run test:long -- ${unknown}.` : ''
  console.error(`No test file has ${unknown} in its path.${hint}`)
  process.exitCode = 2
}

/** The unit tests run concurrently. Other parts run one after the other, because the long tests load the machine. */
async function runAll(toRun: readonly Part[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-test-run-'))
  const ended: Ended[] = []
  const runNext = (part: Part): Promise<Ended> => runPart(part, join(folder, `${(runs += 1)}`))
  let runs = 0
  try {
    for (const together of lane === 'unit' ? [toRun] : toRun.map((part) => [part]))
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      ended.push(...(await Promise.all(together.map(runNext))))
    if (lane === 'all') return await repeated(ended, runNext)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (ended.length > 1) console.log(lineOf(sumOf(ended.map(({ result }) => result))))
  return codeOf(ended)
}

type Ended = { readonly code: number; readonly result: Result }

function codeOf(ended: readonly Ended[]): number {
  return ended.find(({ code }) => code !== 0)?.code ?? 0
}

/** Runs the files that failed once more, prints the total, and returns the exit code. A file that fails again has failed. */
async function repeated(first: readonly Ended[], runNext: (part: Part) => Promise<Ended>): Promise<number> {
  const files = first.flatMap(({ result }) => Object.keys(result.failedFiles))
  const total = sumOf(first.map(({ result }) => result))
  if (total.failed === 0 || !mayRepeat(first, files)) {
    console.log(lineOf(total))
    return codeOf(first)
  }
  console.log(`\nThese files failed and run once more:\n${files.map((file) => `  ${file}\n`).join('')}`)
  const second = await runNext({ files, flags: SETUP })
  for (const file of files.filter((name) => second.result.failedFiles[name] === undefined))
    console.log(`FLAKY   ${file} failed, and passed when it ran once more. Its first failure is above.`)
  const counts = first.flatMap(({ result }) => Object.values(result.failedFiles))
  console.log(lineOf(sumOf([without(total, counts), second.result])))
  return second.code
}

/** Whether files of tests are all that failed, and a second attempt can show something new. */
function mayRepeat(first: readonly Ended[], files: readonly string[]): boolean {
  const explains = ({ code, result }: Ended): boolean =>
    code === 0 || sumOf(Object.values(result.failedFiles)).failed === Math.max(1, result.failed)
  return (
    first.every(explains) &&
    files.length <= REPEATED_FILES_MAX &&
    files.every((file) => all.includes(file) && !DETERMINISTIC.test(file))
  )
}

async function runPart(part: Part, resultFile: string): Promise<Ended> {
  const code = await run(part, resultFile)
  return { code, result: resultIn(resultFile) }
}

function run(part: Part, resultFile: string): Promise<number> {
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--test-timeout=${TEST_MS_MAX}`,
      '--test-reporter=./scripts/test-reporter.ts',
      '--test-reporter-destination=stdout',
      ...part.flags,
      ...flags,
      ...(part.entries?.(part.files, `${resultFile}-entries`) ?? part.files),
    ],
    {
      stdio: 'inherit',
      env: {
        NODE_COMPILE_CACHE: COMPILED,
        ...process.env,
        POSTROAD_TEST_RESULT: resultFile,
        POSTROAD_TEST_CONSOLE: part.files.some((file) => file.startsWith('packages/console/')) ? '1' : '0',
      },
    },
  )
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
}

/** A run that ended without a result has failed. */
function resultIn(file: string): Result {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the reporter writes it
    return JSON.parse(readFileSync(file, 'utf8')) as Result
  } catch {
    return { passed: 0, failed: 1, skipped: 0, failedFiles: {} }
  }
}
