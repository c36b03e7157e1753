import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startChild, type Child, type Verbs } from './child.ts'
import { startPostroad, type Postroad, type ServerOptions } from './postroad.ts'
import { makeMonth, withDatabase } from './queries.ts'
import type { Table } from './table.ts'

/** The resources of the bench's rows: folders and processes that are removed when it ends, however it ends. */
export type Stage = {
  /** How long one round of one contender lasts. */
  readonly seconds: number
  readonly rounds: number
  /** The numbers of stored events at which searches are measured. */
  readonly records: readonly number[]
  /** The most of these for which SQL and a rival are asked as well. */
  readonly comparedRecords: number
  /** Whether named folders remain for the next run. */
  readonly retains: boolean
  folder(name?: string): Promise<string>
  child<V extends Verbs>(file: string): Child<V>
  server(options: ServerOptions): Promise<Postroad>
  say(line: string): void
  /** Prints a table of a row below the figures. */
  addTable(table: Table): void
  readonly tables: readonly Table[]
  close(): Promise<void>
}

export type StageOptions = {
  readonly seconds: number
  readonly rounds: number
  readonly records: readonly number[]
  readonly comparedRecords: number
  /** The folder for data that the next run can use again. */
  readonly data: string | undefined
  readonly profile: string | undefined
}

export function openStage({ seconds, rounds, records, comparedRecords, data, profile }: StageOptions): Stage {
  const folders: string[] = []
  const tables: Table[] = []
  const running = new Set<{ stop(): Promise<void> }>()
  const tracked = <Process extends { stop(): Promise<void> }>(process: Process): Process => {
    const entry = { stop: () => process.stop() }
    running.add(entry)
    return { ...process, stop: () => process.stop().then(() => void running.delete(entry)) }
  }
  return {
    seconds,
    rounds,
    records,
    comparedRecords,
    retains: data !== undefined,
    tables,
    addTable: (table) => void tables.push(table),
    folder: async (name) => {
      if (data !== undefined && name !== undefined) {
        const retained = resolve(data, name)
        await mkdir(retained, { recursive: true })
        return retained
      }
      const folder = await mkdtemp(join(tmpdir(), 'postroad-bench-'))
      folders.push(folder)
      return folder
    },
    child: <V extends Verbs>(file: string) => tracked(startChild<V>(file)),
    server: async (options) => {
      const server = tracked(await startPostroad({ profile, ...options }))
      await withDatabase(server.target, makeMonth)
      return server
    },
    say: (line) => process.stderr.write(`${line}\n`),
    close: async () => {
      // Children first: those that use the database must end before its server stops.
      for (const entry of [...running].toReversed()) {
        // oxlint-disable-next-line no-await-in-loop -- in order
        await entry.stop()
      }
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
    },
  }
}

/** Runs `work` for each round and contender. The order rotates with each round, so that no contender is always the last. */
export async function inTurns<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, (round: number) => Promise<void>>>,
): Promise<void> {
  const entries = Object.values<(round: number) => Promise<void>>(contenders)
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < entries.length; index += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one at a time, or they would measure each other
      await entries[(index + round) % entries.length]?.(round)
    }
  }
}
