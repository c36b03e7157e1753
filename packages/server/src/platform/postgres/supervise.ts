import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { launch } from './child.ts'
import type { Child } from './child.ts'
import type { Site } from './cluster.ts'
import { trimLog } from './log-file.ts'
import { clearTheWay } from './postmaster.ts'
import { StillInUse } from './start-error.ts'

/** The dependencies of the supervisor: `report` gets each problem once, `log` gets each action. */
export type Watch = {
  readonly site: Site
  readonly settings: Readonly<Record<string, string>>
  readonly report: (line: string) => void
  readonly log: (line: string) => void
}
export type Supervised = { stop(): Promise<void> }

const backoffMs = { first: 100, max: 2000 } as const
const leftoversMs = 10_000
const trimEveryMs = 60_000

/** Starts PostgreSQL, resolves when it accepts connections, and from then on restarts it whenever it ends unexpectedly. */
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
      watch.report(`PostgreSQL stopped unexpectedly (${how}): ${child.said()}`)
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

/** The processes of a killed server take a moment to notice. Until then, PostgreSQL does not start. */
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

/**
 * Tries until PostgreSQL is back, because a full disk may get space at any time. Gives up when asked to stop or when its data
 * is gone.
 */
async function revive({ site, report, log, again, signal }: Revival): Promise<boolean> {
  let reported = ''
  // Requests wait meanwhile, so the first try is at once.
  for (let waitMs = 0; ; waitMs = Math.min(Math.max(waitMs * 2, backoffMs.first), backoffMs.max)) {
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return false
    if (!existsSync(site.folder)) {
      report(`PostgreSQL cannot be started again: ${site.folder} is gone`)
      return false
    }
    try {
      await again()
      if (!signal.aborted) log('PostgreSQL is running again')
      return !signal.aborted
    } catch (error) {
      const line = error instanceof Error ? error.message : String(error)
      if (line !== reported && !signal.aborted) report(line)
      reported = line
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
