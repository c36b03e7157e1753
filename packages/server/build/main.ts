import { freshBundle, makeBundle } from './fresh.ts'

/**
 * Bundles the server, unless there is a bundle of these sources. With `--at-install`, a failed build does not fail the
 * installation, because the server tries again when it starts.
 */
try {
  if (freshBundle() === undefined) await makeBundle()
} catch (error) {
  console.error(`The server could not be bundled: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = process.argv.includes('--at-install') ? 0 : 1
}
