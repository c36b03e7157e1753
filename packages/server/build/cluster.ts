import { mkdirSync, existsSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { MIGRATIONS } from '../src/migrations.ts'
import { openEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { migrate } from '../src/platform/migrate.ts'
import { packCluster } from '../src/platform/postgres/packed.ts'
import { clusterFile, otherClusters } from '../src/ready-made.ts'

/** Makes the ready-made cluster of these migrations, unless there is one. */
export async function makeCluster(): Promise<void> {
  const file = clusterFile()
  if (existsSync(file)) return
  const dataDir = mkdtempSync(join(realpathSync(tmpdir()), 'postroad-cluster-'))
  try {
    const postgres = await openEmbeddedPostgres({ dataDir, mode: 'own' })
    try {
      await migrate(postgres.connection, MIGRATIONS)
    } finally {
      await postgres.stop()
    }
    const beside = `${file}.${process.pid}`
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(beside, packCluster(join(dataDir, 'postgres')))
    renameSync(beside, file)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
  for (const other of otherClusters(file)) rmSync(other, { force: true })
}
