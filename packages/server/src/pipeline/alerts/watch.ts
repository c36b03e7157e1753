import { ALERT_TYPE_NAMES, alertFacts, SYSTEM_DATASET, type AlertChange, type AlertType } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { isQuiet } from '../../domain/workspace/alerts/quiet-hours.ts'
import { nextStep } from '../../domain/workspace/alerts/next-step.ts'
import { monthOf } from '../../domain/workspace/month.ts'
import { SeparateRows, type LoopWork } from '../../platform/separate-rows.ts'
import {
  compareCauses,
  listWaiting,
  type Compared,
  type Moment,
  type Severity,
} from '../../resources/workspace/alerts/causes/queries.ts'
import { readCertificates } from '../../resources/workspace/alerts/index.ts'
import {
  insertAlert,
  insertAlertEvent,
  updateAlert,
  type SettledAlert,
} from '../../resources/workspace/alerts/queries.ts'
import type { Accepted, AcceptAll } from '../accept.ts'
import { fromOrigin } from '../capture/from-origin.ts'
import { Overtaken } from '../sources/ports.ts'
import { alertPayload } from './payload.ts'

type Watching = Deps & { readonly acceptAll: AcceptAll }

/** A cause beside its alert, and what comes of them. */
type Step = {
  readonly row: SettledAlert
  readonly before: Compared['alert']
  readonly change: AlertChange | null
  readonly place: string
  readonly wasResolved: boolean
}

/** Their causes change slowly, or are found by a longer statement. */
const SLOW: ReadonlySet<AlertType> = new Set(['backlog.old', 'quota.near', 'key.expiring', 'certificate.expiring'])
const SLOW_MS = 60_000

/**
 * Compares the causes with the open alerts, type by type. Differences are settled project by project: one commit changes the
 * alerts of a project and stores their events, so an event never says what no alert shows (docs/adr/0411).
 */
export function createWatch(deps: Watching): () => Promise<LoopWork> {
  let slowAt = -Infinity
  return async () => {
    const rows = new SeparateRows(deps.retryLog, 'alerts.not_settled')
    const now = deps.clock.now()
    const isSlow = now - slowAt >= SLOW_MS
    if (isSlow) slowAt = now
    if (isSlow) await readCertificates(deps)
    const moment = momentAt(deps, now)
    const system = deps.database.forSystem
    for (const type of ALERT_TYPE_NAMES) {
      if (SLOW.has(type) && !isSlow) continue
      // oxlint-disable-next-line no-await-in-loop -- one statement at a time: the loop must not crowd out senders
      const found = await compareCauses(system, { ...moment, type })
      // oxlint-disable-next-line no-await-in-loop -- as above
      await settleAll(deps, { rows, now, steps: found.map((one) => stepOf(deps, { type, one, now })) })
    }
    const waiting = await listWaiting(system, { now })
    const due = waiting.map((one) => stepOf(deps, { type: one.type, one, now })).filter(isChanged)
    await settleAll(deps, { rows, now, steps: due })
    return rows.outcome
  }
}

function momentAt({ plans }: Deps, now: number): Moment {
  const quotas = Object.entries(plans).map(([plan, limits]) => ({
    plan,
    events: limits.events_per_month,
    deliveries: limits.deliveries_per_month,
  }))
  return { now, month: monthOf(now), quotas }
}

type Looked = {
  readonly type: AlertType
  readonly one: Compared & { readonly is_resolved?: boolean }
  readonly now: number
}

function stepOf({ uuid }: Deps, { type, one, now }: Looked): Step {
  const before = one.alert
  const known = before ?? { id: uuid(), announced: null, silent: one.was_reported, muted_until: null, peak: one.value }
  const mute = muteOf(known.muted_until, now)
  const { change, held } = nextStep({
    isTrue: one.is_true,
    severity: one.severity,
    announced: known.announced,
    isSilent: known.silent,
    mute,
    isQuiet: isQuiet(one.quiet_hours, now),
  })
  const row = {
    workspaceId: one.workspace_id,
    projectId: one.project_id,
    id: known.id,
    type,
    subject_kind: one.subject_kind,
    subject_id: one.subject_id,
    subject_name: one.subject_name,
    customer_id: one.customer_id,
    severity: one.severity,
    value: one.value,
    peak: worse(type, one.value, known.peak),
    detail: one.detail,
    isResolved: !one.is_true,
    announced: announcedBy(change, one.severity),
    held,
    silent: known.silent,
    endsMute: !one.is_true || (mute === 'ended' && !held),
  }
  return { row, before, change, place: one.place, wasResolved: one.is_resolved === true }
}

// oxlint-disable-next-line max-params -- a type and two of its values
const worse = (type: AlertType, a: number, b: number): number =>
  alertFacts(type).unit === 'days' ? Math.min(a, b) : Math.max(a, b)

function announcedBy(change: AlertChange | null, severity: Severity): SettledAlert['announced'] {
  if (change === null) return undefined
  return change === 'resolved' ? 'resolved' : severity
}

/** Quiet hours that go on, and a mute that ends in them, change nothing. */
const isChanged = ({ row, before, change }: Step): boolean =>
  change !== null || row.held !== before?.held || (row.endsMute && before.muted_until !== null)

function muteOf(until: string | null, now: number): 'none' | 'muted' | 'ended' {
  if (until === null) return 'none'
  return until === 'infinity' || Date.parse(until) > now ? 'muted' : 'ended'
}

type Settling = { readonly rows: SeparateRows; readonly now: number; readonly steps: readonly Step[] }

async function settleAll(deps: Watching, { rows, now, steps }: Settling): Promise<void> {
  for (const [projectId, those] of Map.groupBy(steps, ({ row }) => row.projectId))
    // oxlint-disable-next-line no-await-in-loop -- one project at a time
    await rows.run({ kind: 'project', id: projectId }, () => settleProject(deps, { now, steps: those }))
}

async function settleProject(deps: Watching, { now, steps }: Omit<Settling, 'rows'>): Promise<void> {
  const told = steps.filter(({ change }) => change !== null)
  const others = steps.filter(({ change }) => change === null)
  const events = told.map(({ row, change, before, place }) =>
    fromOrigin({
      workspaceId: row.workspaceId,
      projectId: row.projectId,
      dataset: SYSTEM_DATASET,
      origin: { kind: 'alert', id: row.id },
      text: alertPayload(deps, {
        ...row,
        place,
        change: change ?? 'opened',
        openedAt: before === null ? new Date(now) : new Date(before.opened_at),
        at: new Date(now),
      }),
      receivedAt: now,
      ...(row.customer_id === null ? {} : { customer: { id: row.customer_id } }),
    }),
  )
  await deps.acceptAll(events, async (tx, outcomes) => {
    const at = new Date(now)
    for (const [index, step] of [...told, ...others].entries()) {
      const { row, before, change, wasResolved } = step
      const wasAnnounced = before?.announced ?? null
      const changed =
        // oxlint-disable-next-line no-await-in-loop -- one connection
        await (before === null
          ? insertAlert(tx, { ...row, now: at })
          : updateAlert(tx, { ...row, now: at, wasAnnounced, wasResolved }))
      if (changed === 0) throw new Overtaken()
      const recordId = recordOf(outcomes[index])
      if (change === null || recordId === undefined) continue
      const { workspaceId, projectId } = row
      // oxlint-disable-next-line no-await-in-loop -- one connection
      await insertAlertEvent(tx, { workspaceId, projectId, alertId: row.id, recordId, change, at })
    }
  })
}

/** A refused event leaves the alert without one: the screen still shows it. */
function recordOf(outcome: Accepted | undefined): string | undefined {
  return outcome?.kind === 'stored' ? outcome.event.records[0]?.id : undefined
}
