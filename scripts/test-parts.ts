import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { alone, batched } from './test-batches.ts'
import type { Result } from './test-counts.ts'

/** Files that run together, with one PostgreSQL and one browser for all of them. */
export type Part = {
  /** The name in the tables: of the lane or the step. */
  readonly name: string
  readonly files: readonly string[]
  /** They load the machine, so each file gets a separate process. */
  readonly isHeavy?: boolean
  /** They need no database and no server, and run in this process. */
  readonly flags?: readonly string[]
}

export type Ended = { readonly name: string; readonly code: number; readonly seconds: number; readonly result: Result }

/** Most files wait for a server or for a receiver: three at a time keep two cores busy. */
const FILES_AT_ONCE = 3
const HEAVY_FILES_AT_ONCE = 2
const TEST_MS_MAX = 600_000
/**
 * Every file, and every server that a test starts, loads the same modules: Node stores their compiled code for the next
 * one.
 */
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))

export type Running = {
  /** A folder for the result and the entries; the caller removes it. */
  readonly folder: string
  /** Further flags for node's runner. */
  readonly flags: readonly string[]
  /** Further variables of the environment, such as the seed of the tests that draw by chance. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a part on node's own runner. A run that ends without a result has failed. */
export async function runPart(part: Part, { folder, flags, env = {} }: Running): Promise<Ended> {
  const began = performance.now()
  const resultFile = `${folder}/result`
  const isWatched = flags.includes('--watch')
  const own = part.flags ?? [
    '--test-global-setup=scripts/test-setup.ts',
    `--test-concurrency=${part.isHeavy === true ? HEAVY_FILES_AT_ONCE : FILES_AT_ONCE}`,
  ]
  const entries =
    part.flags !== undefined || isWatched
      ? part.files
      : (part.isHeavy === true ? alone : batched)(part.files, `${folder}/entries`)
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--test-timeout=${TEST_MS_MAX}`,
      '--test-reporter=./scripts/test-reporter.ts',
      '--test-reporter-destination=stdout',
      ...own,
      ...flags,
      ...entries,
    ],
    {
      stdio: 'inherit',
      env: {
        NODE_COMPILE_CACHE: COMPILED,
        ...process.env,
        POSTROAD_TEST_RESULT: resultFile,
        POSTROAD_TEST_CONSOLE: part.files.some((file) => /^packages\/(?:console|verify)\//.test(file)) ? '1' : '0',
        ...env,
      },
    },
  )
  const code = await new Promise<number>((resolve) => child.on('exit', (ended) => resolve(ended ?? 1)))
  return { name: part.name, code, seconds: (performance.now() - began) / 1_000, result: resultIn(resultFile) }
}

function resultIn(file: string): Result {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the reporter writes it
    return JSON.parse(readFileSync(file, 'utf8')) as Result
  } catch {
    return { passed: 0, failed: 1, skipped: 0, failedFiles: {} }
  }
}

/** Plays simulated worlds, and counts as one test. */
export async function simulate(
  world: 'delivery' | 'workflow',
  seeds: { first: number; count: number },
): Promise<Ended> {
  const began = performance.now()
  const words = [
    'packages/server/sim/main.ts',
    '--world',
    world,
    '--from',
    `${seeds.first}`,
    '--seeds',
    `${seeds.count}`,
  ]
  console.log(`\nSimulator: ${seeds.count} worlds of ${world} from seed ${seeds.first}`)
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const code = await new Promise<number>((resolve) => child.on('close', (ended) => resolve(ended ?? 1)))
  console.log(code === 0 ? said.split('\n')[0] : said)
  const result = { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0, failedFiles: {} }
  return { name: `simulator, ${world}`, code, seconds: (performance.now() - began) / 1_000, result }
}
