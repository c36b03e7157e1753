import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild, type Child, type Verbs } from './child.ts'
import { startPostroad, type Postroad, type ServerOptions } from './postroad.ts'
import { makeMonth, withDatabase } from './queries.ts'

/** The resources of the bench's rows: folders and processes that are removed when it ends, however it ends. */
export type Stage = {
  /** How long one round of one contender lasts. */
  readonly seconds: number
  readonly rounds: number
  folder(): Promise<string>
  child<V extends Verbs>(file: string): Child<V>
  server(options: ServerOptions): Promise<Postroad>
  say(line: string): void
  close(): Promise<void>
}

export type StageOptions = { readonly seconds: number; readonly rounds: number; readonly profile: string | undefined }

export function openStage({ seconds, rounds, profile }: StageOptions): Stage {
  const folders: string[] = []
  const running = new Set<{ stop(): Promise<void> }>()
  const tracked = <Process extends { stop(): Promise<void> }>(process: Process): Process => {
    const entry = { stop: () => process.stop() }
    running.add(entry)
    return { ...process, stop: () => process.stop().then(() => void running.delete(entry)) }
  }
  return {
    seconds,
    rounds,
    folder: async () => {
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
