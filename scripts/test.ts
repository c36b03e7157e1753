import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Runs every test on node's own runner, with one PostgreSQL for all files, and ends in a line `N passed, N failed`.
 * `npm test -- NAME…` runs the files whose path holds NAME. `--watch` runs again on changes. A test that hangs fails.
 *
 * Many files mostly wait, for a server that starts or for a receiver: three at a time keep two cores busy. Each of them,
 * and each server that a test starts, loads the same modules, so what node has made of these is kept for the next one.
 */
const FILES_AT_ONCE = 3
const TEST_MS_MAX = 600_000
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))

const given = process.argv.slice(2)
const names = given.filter((word) => !word.startsWith('--'))
const all = globSync('packages/**/*.test.ts', { exclude: (name) => name === 'node_modules' }).toSorted()
const unknown = names.find((name) => !all.some((file) => file.includes(name)))
if (unknown !== undefined) {
  console.error(`No test file has ${unknown} in its path.`)
  process.exit(2)
}
const files = all.filter((file) => names.length === 0 || names.some((name) => file.includes(name)))

const child = spawn(
  process.execPath,
  [
    '--test',
    '--test-global-setup=packages/server/test/global-setup.ts',
    `--test-concurrency=${FILES_AT_ONCE}`,
    `--test-timeout=${TEST_MS_MAX}`,
    '--test-reporter=./scripts/test-reporter.ts',
    '--test-reporter-destination=stdout',
    ...given.filter((word) => word.startsWith('--')),
    ...files,
  ],
  { stdio: 'inherit', env: { NODE_COMPILE_CACHE: COMPILED, ...process.env } },
)
child.on('exit', (code) => {
  process.exitCode = code ?? 1
})
