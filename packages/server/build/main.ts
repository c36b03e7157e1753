import { makeCluster } from './cluster.ts'
import { freshBundle, makeBundle } from './fresh.ts'

/**
 * Bundles the server, unless there is a bundle of these sources, and makes the cluster that fresh data folders are copied from. With
 * `--at-install`, a failure does not fail the installation: the server tries to bundle again when it starts, and needs no cluster.
 */
const done = await Promise.allSettled([freshBundle() === undefined ? makeBundle() : undefined, makeCluster()])
for (const [index, what] of ['The server could not be bundled', 'The empty database could not be made'].entries()) {
  const outcome = done[index]
  if (outcome?.status !== 'rejected') continue
  const { reason }: { reason: unknown } = outcome
  console.error(`${what}: ${reason instanceof Error ? reason.message : String(reason)}`)
  process.exitCode = process.argv.includes('--at-install') ? 0 : 1
}
