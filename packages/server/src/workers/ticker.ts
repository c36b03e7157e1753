import type { Deps } from '../context.ts'

export type Ticker = { start(): void; stop(): Promise<void> }

/** Runs `work` again and again, one run at a time, `everyMs` after the one before ended. A failure is logged and tried again. */
export function createTicker(
  deps: Pick<Deps, 'clock' | 'log'>,
  of: { readonly everyMs: number; readonly name: string; readonly work: () => Promise<void> },
): Ticker {
  let stopping = false
  let running: Promise<void> = Promise.resolve()
  let cancel = nothing
  const run = async (): Promise<void> => {
    try {
      await of.work()
    } catch (cause) {
      if (!stopping) deps.log.warn(`${of.name}_failed`, { cause })
    }
    if (!stopping) cancel = deps.clock.wakeAt(deps.clock.now() + of.everyMs, tick)
  }
  const tick = (): void => {
    running = run()
  }
  return {
    start: tick,
    stop: () => {
      stopping = true
      cancel()
      return running
    },
  }
}

function nothing(): void {
  // Until there is an alarm to take back.
}
