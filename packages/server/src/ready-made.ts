import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MIGRATIONS } from './migrations.ts'
import { CLUSTER_FORM } from './platform/postgres/cluster.ts'
import { findBinaries } from './platform/postgres/binaries.ts'

/**
 * The ready-made cluster: an empty database of this release, which `npm ci` makes so that a fresh data folder is a copy of it
 * instead of the work of initdb and of every migration (docs/adr/0398).
 */

const DIST = fileURLToPath(new URL('../dist/', import.meta.url))
const NAME = /^cluster-[0-9a-f]{16}\.zst$/

/** The file of the cluster for these binaries and these migrations, whether it exists or not. */
export function clusterFile(): string {
  const { version, platform } = findBinaries()
  const folder = fileURLToPath(MIGRATIONS)
  const files = readdirSync(folder).toSorted()
  const parts = [
    platform,
    version,
    CLUSTER_FORM,
    ...files.flatMap((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  ]
  return join(DIST, `cluster-${hash('sha256', JSON.stringify(parts)).slice(0, 16)}.zst`)
}

/** The packed cluster, if it was made. */
export function readyMadeCluster(): Buffer | undefined {
  const file = clusterFile()
  return existsSync(file) ? readFileSync(file) : undefined
}

/** The files of other releases. */
export function otherClusters(current: string): readonly string[] {
  return readdirSync(DIST)
    .filter((name) => NAME.test(name))
    .map((name) => join(DIST, name))
    .filter((file) => file !== current)
}
