import type { ChildProcess } from 'node:child_process'
import { closeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { begin, commandFor, spawnError } from './account.ts'
import type { Command } from './account.ts'
import type { Site } from './cluster.ts'
import { openLog, readLog, sizeOf } from './log-file.ts'
import { bringDown, postmasterOf } from './postmaster.ts'
import { serverArgs } from './settings.ts'
import { explain, fileError, lastWords } from './start-error.ts'
import type { StartError } from './start-error.ts'

/** One run of PostgreSQL as our child process, from its start to its end. */
export type Child = {
  /** Resolves when the process has ended, with a description of how. */
  readonly ended: Promise<string>
  /** Resolves when it accepts connections. StartError when the process ends before that. */
  ready(): Promise<void>
  /** The reason why it ended or did not start, from its log. */
  why(): StartError
  /** Its last message in the log, as one line. */
  said(): string
  stop(): Promise<void>
}

/** Starts PostgreSQL on a prepared site and returns immediately. */
export function launch(site: Site, settings: Readonly<Record<string, string>>): Child {
  const logFrom = sizeOf(site.logFile)
  const command = commandFor({ file: site.binaries.postgres, args: serverArgs(site, settings) }, site)
  const child = beginLogged(command, site)
  let end: string | undefined
  let failure: StartError | undefined
  const ended = new Promise<string>((resolve) => {
    const finish = (words: string): void => {
      end = words
      resolve(words)
    }
    child.on('error', (error) => {
      failure = spawnError(error, command.file)
      finish(failure.message)
    })
    child.on('exit', (code, signal) => {
      finish(signal ?? `exit code ${code}`)
    })
  })
  const output = (): string => readLog(site.logFile, logFrom)
  const why = (): StartError => failure ?? explain(output(), site)
  const ready = async (): Promise<void> => {
    for (;;) {
      const found = postmasterOf(site.folder)
      if (found?.ready === true && found.pid === child.pid) return
      if (end !== undefined) throw why()
      await sleep(10)
    }
  }
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined) await bringDown(child.pid, () => end !== undefined)
  }
  return { ended, ready, why, said: () => lastWords(output()), stop }
}

function beginLogged(command: Command, site: Site): ChildProcess {
  const log = openLogOf(site)
  try {
    // A separate session: Ctrl-C in a terminal is for Postroad, which stops PostgreSQL when its own work is done.
    return begin(command, { detached: true, stdio: ['ignore', log, log] })
  } finally {
    closeSync(log)
  }
}

function openLogOf(site: Site): number {
  try {
    return openLog(site)
  } catch (error) {
    throw fileError(error, site.logFile)
  }
}
