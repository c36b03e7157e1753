import type { Deps } from '../context.ts'
import type { AcceptAll } from '../pipeline/accept.ts'
import { createWatch } from '../pipeline/alerts/watch.ts'
import { createAgentRuns } from '../pipeline/agents/index.ts'
import { admitQuarantined } from '../pipeline/quarantine/admit.ts'
import { createForwards } from '../pipeline/forward/index.ts'
import {
  createListeners,
  createSourcePolls,
  createStreams,
  fireCronTriggers,
  watchSlots,
} from '../pipeline/sources/index.ts'
import type { Loop } from '../platform/lease-loop.ts'
import { createLearner } from '../resources/capture/dataset-schemas/index.ts'
import { createExpirer } from '../resources/capture/datasets/expire/index.ts'
import { createIndexer } from '../resources/capture/search-index/index.ts'
import { auditSignatures } from '../resources/capture/rejections/index.ts'
import { releaseWaiting } from '../resources/delivery/deliveries/release/index.ts'
import { advanceReplays } from '../resources/delivery/replays/index.ts'
import { sendDueMails } from '../resources/people/mails/index.ts'
import { pruneAudit } from '../resources/workspace/audit/index.ts'
import { followPayments } from '../resources/workspace/billing/index.ts'
import { finishDeletions } from '../resources/workspace/deletions/index.ts'
import { createExporter } from '../resources/workspace/data-export/index.ts'
import { eraseEnded } from '../resources/workspace/erasure/index.ts'
import { createRollUp } from '../resources/workspace/rollups/index.ts'
import type { WorkflowEngine } from '../pipeline/workflow/run.ts'
import { mailDue } from '../resources/people/mails/queries.ts'
import { instancesDue } from '../pipeline/workflow/instances/queries.ts'
import { exportsDue } from '../resources/workspace/data-export/queries.ts'
import { aiRunsDue } from '../resources/automation/ai-runs/queries.ts'
import { quarantineDue } from '../resources/capture/quarantine/queries.ts'
import { replaysDue } from '../resources/delivery/replays/queries.ts'
import { cronDue } from '../resources/sources/cron-triggers/queries.ts'
import { wsTriggersDue } from '../resources/sources/ws-triggers/queries.ts'
import { forwardersDue } from '../resources/serving/forwarders/cursors/queries.ts'
import { deletionsDue } from '../resources/workspace/snapshots/queries.ts'
import { slotsDue, sourcesDue } from '../resources/sources/sources/queries.ts'
import type { Due } from '../platform/due-board.ts'
import { runUpkeep } from './upkeep.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

/** A run that works on the rows that it claims. */
const claims = (run: () => Promise<number>) => async () => ({ rows: await run() })

/** The loops that only the composition root can provide, because their parts have state. */
export type OwnLoops = {
  readonly pollDirectory: () => Promise<void>
  readonly alignClock: () => Promise<void>
  readonly flushRejections: () => Promise<void>
  readonly flushRepeats: () => Promise<void>
  /** The road of events that no sender sent. */
  readonly acceptAll: AcceptAll
  /** The name of this process in the leases of rows. */
  readonly owner: string
  readonly workflows: Pick<WorkflowEngine, 'look' | 'stop'>
}

/**
 * Every background loop of a process, in one list. Only deliveries have a separate loop (pipeline/deliver), which wakes when a
 * delivery is due. A loop of the installation may run in two processes for a moment, so its work must tolerate that.
 */
export function listLoops(deps: Deps, own: OwnLoops) {
  const exporter = createExporter(deps)
  const makers = { ...deps, acceptAll: own.acceptAll }
  const polls = createSourcePolls(makers, own.owner)
  const listeners = createListeners(makers, own.owner)
  const streams = createStreams(makers, own.owner)
  const forwards = createForwards(deps, own.owner)
  const agentRuns = createAgentRuns(makers)
  const ofInstallation = { role: 'work', scope: 'installation' } as const
  const ofProcess = { role: 'work', scope: 'process' } as const
  return [
    { name: 'directory.poll', everyMs: 500, role: 'every', scope: 'process', work: own.pollDirectory },
    { name: 'clock.align', everyMs: 5 * SECOND_MS, role: 'every', scope: 'process', work: own.alignClock },
    { name: 'rejections.flush', everyMs: SECOND_MS, role: 'web', scope: 'process', work: own.flushRejections },
    { name: 'repeats.flush', everyMs: SECOND_MS, role: 'web', scope: 'process', work: own.flushRepeats },
    { ...ofInstallation, name: 'upkeep', everyMs: HOUR_MS, work: () => runUpkeep(deps) },
    { ...ofInstallation, name: 'rejections.audit', everyMs: 2 * SECOND_MS, work: () => auditSignatures(deps) },
    { ...ofInstallation, name: 'mail.send', everyMs: SECOND_MS, work: () => sendDueMails(deps) },
    // Workflows need the database and no receiver, so processes with the role `work` run them. Every such process takes its part of
    // the due instances; a hint makes it look sooner. A look also moves the snapshot after which new waits compare records.
    {
      ...ofProcess,
      name: 'workflows.run',
      everyMs: SECOND_MS,
      atLeastEveryMs: 5 * SECOND_MS,
      work: claims(() => own.workflows.look()),
      stop: () => own.workflows.stop(),
    },
    // An export may take hours. A process claims each one by its row, so several processes may write several.
    {
      ...ofProcess,
      name: 'data_export',
      everyMs: 2 * SECOND_MS,
      work: () => exporter.run(),
      stop: () => exporter.stop(),
    },
    // A run mostly waits for its provider. A process claims each one by its row, so several processes may run several.
    {
      ...ofProcess,
      name: 'ai_runs',
      everyMs: SECOND_MS,
      work: claims(() => agentRuns.run()),
      stop: () => agentRuns.stop(),
    },
    { ...ofInstallation, name: 'rollups.count', everyMs: 5 * SECOND_MS, work: createRollUp(deps) },
    { ...ofInstallation, name: 'dataset_schemas.learn', everyMs: 10 * SECOND_MS, work: createLearner(deps) },
    { ...ofInstallation, name: 'search.index', everyMs: 5 * SECOND_MS, work: createIndexer(deps) },
    { ...ofInstallation, name: 'datasets.expire', everyMs: 60 * SECOND_MS, work: createExpirer(deps) },
    { ...ofInstallation, name: 'quarantine.admit', everyMs: 2 * SECOND_MS, work: () => admitQuarantined(makers) },
    { ...ofInstallation, name: 'replays.advance', everyMs: SECOND_MS / 2, work: () => advanceReplays(deps) },
    { ...ofInstallation, name: 'allowance.release', everyMs: 2 * SECOND_MS, work: () => releaseWaiting(deps) },
    { ...ofInstallation, name: 'billing.follow', everyMs: 2 * SECOND_MS, work: () => followPayments(deps) },
    { ...ofInstallation, name: 'cron_triggers.fire', everyMs: SECOND_MS, work: () => fireCronTriggers(makers) },
    {
      ...ofProcess,
      name: 'ws_triggers.listen',
      everyMs: SECOND_MS,
      work: () => listeners.run(),
      busy: () => listeners.busy(),
      stop: () => listeners.stop(),
    },
    {
      ...ofProcess,
      name: 'sources.stream',
      everyMs: SECOND_MS,
      work: () => streams.run(),
      busy: () => streams.busy(),
      stop: () => streams.stop(),
    },
    // A process claims each source by its row, so several processes may read several sources.
    {
      ...ofProcess,
      name: 'sources.poll',
      everyMs: SECOND_MS,
      work: claims(() => polls.run()),
      stop: () => polls.stop(),
    },
    { ...ofInstallation, name: 'sources.slots', everyMs: 10 * SECOND_MS, work: () => watchSlots(deps) },
    // A process claims each signal of a forwarder by its row, so several processes may send several.
    {
      ...ofProcess,
      name: 'forwarders.send',
      everyMs: SECOND_MS,
      work: claims(() => forwards.run()),
      stop: () => forwards.stop(),
    },
    { ...ofInstallation, name: 'alerts.watch', everyMs: 15 * SECOND_MS, work: createWatch(makers) },
    { ...ofInstallation, name: 'deletions.finish', everyMs: 2 * SECOND_MS, work: () => finishDeletions(deps) },
    { ...ofInstallation, name: 'erasure', everyMs: 60 * SECOND_MS, work: () => eraseEnded(deps) },
    { ...ofInstallation, name: 'audit.prune', everyMs: HOUR_MS, work: () => pruneAudit(deps) },
  ] as const satisfies readonly Loop[]
}

export type LoopName = ReturnType<typeof listLoops>[number]['name']

/**
 * When a loop may have work. Each condition finds a row whenever the loop would, and an index or a small table answers it. Rows that
 * only expire are in none, because a loop also runs now and then without a reason (docs/adr/0403). None reads the tables of events, because
 * opening those of every day costs more than the loop.
 */
export const DUE: Readonly<Partial<Record<LoopName, Due>>> = {
  'mail.send': mailDue,
  'workflows.run': instancesDue,
  data_export: exportsDue,
  ai_runs: aiRunsDue,
  'quarantine.admit': quarantineDue,
  'replays.advance': replaysDue,
  'cron_triggers.fire': cronDue,
  'ws_triggers.listen': wsTriggersDue,
  'sources.slots': slotsDue,
  'forwarders.send': forwardersDue,
  'deletions.finish': deletionsDue,
  'sources.stream': sourcesDue,
  'sources.poll': sourcesDue,
}
