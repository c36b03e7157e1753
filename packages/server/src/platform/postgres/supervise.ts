import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { launch } from './child.ts'
import type { Child } from './child.ts'
import type { Site } from './cluster.ts'
import { trimLog } from './log-file.ts'
import { clearTheWay } from './postmaster.ts'
import { StillInUse } from './start-error.ts'

/** What keeping PostgreSQL alive needs: `tell` hears of each trouble once, `log` of what was done about it. */
export type Watch = {
  readonly site: Site
  readonly settings: Readonly<Record<string, string>>
  readonly tell: (line: string) => void
  readonly log: (line: string) => void
}
export type Supervised = { stop(): Promise<void> }

const backoffMs = { first: 100, max: 2000 } as const
const leftoversMs = 10_000
const trimEveryMs = 60_000

/** Starts PostgreSQL, resolves when it takes connections, and from then on starts it again whenever it dies unasked. */
export async function supervise(watch: Watch): Promise<Supervised> {
  const asked = new AbortController()
  let child = await firstStart(watch)
  const again = async (): Promise<void> => {
    await clearTheWay(watch.site)
    if (asked.signal.aborted) return
    child = launch(watch.site, watch.settings)
    await child.ready()
  }
  const guard = async (): Promise<void> => {
    for (;;) {
      const how = await child.ended
      if (asked.signal.aborted) return
      watch.tell(`PostgreSQL stopped unexpectedly (${how}): ${child.said()}`)
      if (!(await revive({ ...watch, again, signal: asked.signal }))) return
    }
  }
  const guarding = guard()
  const trimming = setInterval(() => {
    trimQuietly(watch)
  }, trimEveryMs).unref()
  const stop = async (): Promise<void> => {
    asked.abort()
    clearInterval(trimming)
    await child.stop()
    await guarding
  }
  return { stop }
}

/** The processes of a server that was killed take a moment to notice; until they have, PostgreSQL will not start. */
async function firstStart({ site, settings }: Watch): Promise<Child> {
  const end = performance.now() + leftoversMs
  for (;;) {
    const child = launch(site, settings)
    try {
      await child.ready()
      return child
    } catch (error) {
      if (!(error instanceof StillInUse) || performance.now() > end) throw error
      await sleep(backoffMs.first)
    }
  }
}

type Revival = Watch & { readonly again: () => Promise<void>; readonly signal: AbortSignal }

/** Tries until PostgreSQL is back: a full disk may get room at any time. Ends when asked or when its data is gone. */
async function revive({ site, tell, log, again, signal }: Revival): Promise<boolean> {
  let told = ''
  for (let waitMs: number = backoffMs.first; ; waitMs = Math.min(waitMs * 2, backoffMs.max)) {
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return false
    if (!existsSync(site.folder)) {
      tell(`PostgreSQL cannot be started again: ${site.folder} is gone`)
      return false
    }
    try {
      await again()
      if (!signal.aborted) log('PostgreSQL is running again')
      return !signal.aborted
    } catch (error) {
      const line = error instanceof Error ? error.message : String(error)
      if (line !== told && !signal.aborted) tell(line)
      told = line
    }
  }
}

function trimQuietly({ site, log }: Watch): void {
  try {
    trimLog(site.logFile)
  } catch (error) {
    log(`${site.logFile} could not be trimmed: ${error instanceof Error ? error.message : String(error)}`)
  }
}
