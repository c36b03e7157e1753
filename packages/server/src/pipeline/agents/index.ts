import { claimRuns } from '../../resources/automation/ai-runs/queries.ts'
import type { AgentDeps } from './ports.ts'
import { runOnce } from './run-once.ts'
import { LEASE_MS } from './settle.ts'

export { testModel } from './test-model.ts'

/** The most runs under way in a process. They mostly wait for providers. */
const AT_ONCE = 16

export type AgentRuns = {
  /** Runs all due runs. */
  run(): Promise<void>
  /** Starts no further run. */
  stop(): void
}

/** Runs the agents: claims due runs under a fence, so that no two processes commit the same step. */
export function createAgentRuns(deps: AgentDeps): AgentRuns {
  let stopping = false
  return {
    run: async () => {
      const running = new Set<Promise<void>>()
      for (;;) {
        const room = stopping ? 0 : AT_ONCE - running.size
        // oxlint-disable-next-line no-await-in-loop -- claims as many as there is room for
        const claimed = room <= 0 ? [] : await claim(deps, room)
        for (const one of claimed) {
          const run = runOnce(deps, one).finally(() => running.delete(run))
          running.add(run)
        }
        if (running.size === 0) return
        // oxlint-disable-next-line no-await-in-loop -- until one of them has ended
        await Promise.race(running)
      }
    },
    stop: () => {
      stopping = true
    },
  }
}

function claim({ database, clock }: AgentDeps, limit: number) {
  const now = clock.now()
  return claimRuns(database, { now: new Date(now), until: new Date(now + LEASE_MS), limit })
}
