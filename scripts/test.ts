import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'

/**
 * Runs every test on node's own runner, with one PostgreSQL for all files, and ends in a line `N passed, N failed`.
 * `npm test -- NAME…` runs the files whose path holds NAME. `--watch` runs again on changes.
 */
const given = process.argv.slice(2)
const names = given.filter((word) => !word.startsWith('--'))
const files = globSync('packages/**/*.test.ts', { exclude: (name) => name === 'node_modules' })
  .filter((file) => names.length === 0 || names.some((name) => file.includes(name)))
  .toSorted()

const child = spawn(
  process.execPath,
  [
    '--test',
    '--test-global-setup=packages/server/test/global-setup.ts',
    '--test-concurrency=2',
    '--test-reporter=./scripts/test-reporter.ts',
    '--test-reporter-destination=stdout',
    ...given.filter((word) => word.startsWith('--')),
    ...files,
  ],
  { stdio: 'inherit' },
)
child.on('exit', (code) => {
  process.exitCode = code ?? 1
})
