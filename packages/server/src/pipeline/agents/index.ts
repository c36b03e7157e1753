import { runClaimed } from '../../platform/claimed-work.ts'
import { claimRuns, type ClaimedRun } from '../../resources/automation/ai-runs/queries.ts'
import type { AgentDeps } from './ports.ts'
import { runOnce } from './run-once.ts'
import { LEASE_MS } from './settle.ts'

export { testModel } from './test-model.ts'

/** The most runs under way in a process. They mostly wait for providers. */
const AT_ONCE = 16
/** The most of one workspace, so that its slow providers leave room for others. */
const OF_WORKSPACE_MAX = 12

export type AgentRuns = {
  /** Runs all due runs, and resolves to the number of claims. */
  run(): Promise<number>
  /** Starts no further run. */
  stop(): void
}

/** Runs the agents: claims due runs under a fence, so that no two processes commit the same step. */
export function createAgentRuns(deps: AgentDeps): AgentRuns {
  let stopping = false
  return {
    run: () =>
      runClaimed<ClaimedRun>(deps.clock, {
        atOnce: AT_ONCE,
        isStopping: () => stopping,
        claim: (asked) => claim(deps, asked),
        work: (run) => runOnce(deps, run),
      }),
    stop: () => {
      stopping = true
    },
  }
}

function claim(
  { database, clock }: AgentDeps,
  { limit, underWay }: { readonly limit: number; readonly underWay: readonly ClaimedRun[] },
) {
  const now = clock.now()
  return claimRuns(database, {
    now: new Date(now),
    until: new Date(now + LEASE_MS),
    limit,
    underWay: underWay.map(({ workspace_id: id }) => id),
    ofWorkspaceMax: OF_WORKSPACE_MAX,
  })
}
