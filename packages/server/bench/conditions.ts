import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { readSettings, withDatabase } from './queries.ts'
import { median, nowMs } from './statistics.ts'
import type { Stage } from './stage.ts'

/** The facts about the machine that a reader needs to judge the figures. */
export type Conditions = {
  readonly cores: number
  readonly processor: string
  readonly node: string
  readonly postgres: string
  readonly durability: string
  /** One write of 8 KiB forced to the disk of the data folder, without PostgreSQL. */
  readonly forcedWriteMs: number
}

export async function readConditions(stage: Stage): Promise<Conditions> {
  const folder = await stage.folder()
  const server = await stage.server({ folder })
  const { version, ...settings } = await withDatabase(server.target, readSettings)
  const forcedWriteMs = forcedWrite(join(folder, 'forced-write'))
  await server.stop()
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    node: process.version.slice(1),
    postgres: version,
    durability: Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
    forcedWriteMs,
  }
}

function forcedWrite(path: string): number {
  const page = Buffer.alloc(8_192, 1)
  const file = openSync(path, 'w')
  const tookMs = Array.from({ length: 200 }, (_unused, index) => {
    const startedAt = nowMs()
    writeSync(file, page, 0, page.length, (index % 64) * page.length)
    fdatasyncSync(file)
    return nowMs() - startedAt
  })
  closeSync(file)
  rmSync(path)
  return median(tookMs)
}
