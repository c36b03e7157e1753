import { encodeId, type Decision, type RouteOutput, type Routes } from '@postroad/contract'
import { uuidv7Ms } from '../../../platform/ids.ts'
import {
  presentAttempt,
  type AttemptOfRow,
  type DeliveryRow,
  type PresentedDelivery,
} from '../../delivery/deliveries/index.ts'
import { presentRunWithoutOutput, type AiRunRow } from '../../automation/ai-runs/index.ts'
import { presentInstance, type InstanceRow } from '../../automation/workflow-instances/index.ts'
import { presentRejection, type RejectionRow } from '../../capture/rejections/index.ts'
import type { listRecordsById } from '../../capture/records/index.ts'
import { presentSubmission, type findSubmission } from '../../capture/submissions/index.ts'

type SubmissionRow = NonNullable<Awaited<ReturnType<typeof findSubmission>>>
type RecordRow = Awaited<ReturnType<typeof listRecordsById>>[number]

export type StoryRows = {
  readonly subject: Story['subject']
  readonly rejection: RejectionRow | null
  readonly submission: SubmissionRow | null
  /** The decision of the submission; null: there is no submission. */
  readonly decision: Decision | null
  readonly records: readonly RecordRow[]
  readonly deliveries: readonly { readonly row: DeliveryRow; readonly shown: PresentedDelivery }[]
  readonly attempts: readonly AttemptOfRow[]
  readonly instances: readonly InstanceRow[]
  readonly runs: readonly AiRunRow[]
}

type Story = Omit<RouteOutput<Routes['search']['correlate']>, 'id' | 'truncated'>
type Moment = Story['timeline'][number]

/** The rows of one event as its public story, each with its times, and all of them in one timeline. */
export function storyOf({
  subject,
  rejection,
  submission,
  decision,
  records,
  deliveries,
  attempts,
  instances,
  runs,
}: StoryRows): Story {
  const presented = {
    subject,
    rejection: rejection === null ? null : presentRejection(rejection),
    submission: submission === null || decision === null ? null : presentWithoutBody(submission, decision),
    records: records.map(presentRecord),
    deliveries: deliveries.map(({ row, shown }) => ({
      ...shown,
      ...deliveryEnd(row),
      attempts: attempts
        .filter((attempt) => attempt.delivery_id === row.id)
        .map((attempt) => ({ ...presentAttempt(attempt, row.id), ...attemptEnd(attempt) })),
    })),
    workflow_instances: instances.map(presentInstance),
    ai_runs: runs.map(presentRunWithoutOutput),
  }
  return { ...presented, timeline: timelineOf(presented, submission) }
}

function presentWithoutBody(row: SubmissionRow, decision: Decision) {
  const { body: _body, body_base64: _base64, ...shown } = presentSubmission(row, decision)
  return { ...shown, verified_scheme: decision.verified_scheme ?? 'none' }
}

const presentRecord = (row: RecordRow) => ({
  id: encodeId('record', row.id),
  dataset: row.dataset,
  submission_id: encodeId('submission', row.submission_id),
  received_at: row.received_at.toISOString(),
})

/** The end and the duration of a moment; null when it has not ended or the end is unknown. */
function span(beganMs: number, endedMs: number | null) {
  return endedMs === null
    ? { ended_at: null, duration_ms: null }
    : { ended_at: new Date(endedMs).toISOString(), duration_ms: Math.max(0, endedMs - beganMs) }
}

const ENDED: ReadonlySet<DeliveryRow['state']> = new Set(['delivered', 'failed', 'cancelled'])

function deliveryEnd(row: DeliveryRow) {
  return span(row.created_at.getTime(), ENDED.has(row.state) ? row.updated_at.getTime() : null)
}

function attemptEnd(row: AttemptOfRow) {
  const began = row.started_at.getTime()
  return span(began, row.duration_ms === null ? null : began + row.duration_ms)
}

function timelineOf(
  { rejection, records, deliveries }: Omit<Story, 'timeline'>,
  submission: SubmissionRow | null,
): Moment[] {
  const moments: Moment[] = [
    ...(submission === null ? [] : [submissionMoment(submission)]),
    ...(rejection === null ? [] : [rejectionMoment(rejection)]),
    ...records.map((record): Moment => ({
      kind: 'record',
      id: record.id,
      parent_id: record.submission_id,
      at: record.received_at,
      ended_at: record.received_at,
      duration_ms: 0,
      state: 'filed',
    })),
    ...deliveries.flatMap(deliveryMoments),
  ]
  return moments.toSorted((a, b) => ORDER(a, b))
}

/** A submission ends when its id was created: by then it was read, verified and routed. */
function submissionMoment({ id, received_at }: SubmissionRow): Moment {
  const at = received_at.toISOString()
  const ended = span(received_at.getTime(), uuidv7Ms(id))
  return { kind: 'submission', id: encodeId('submission', id), parent_id: null, at, ...ended, state: 'accepted' }
}

/** The moment of the latest rejected request. */
function rejectionMoment({ id, at, reason }: NonNullable<Story['rejection']>): Moment {
  return { kind: 'rejection', id, parent_id: null, at, ended_at: at, duration_ms: 0, state: reason }
}

function deliveryMoments(delivery: Story['deliveries'][number]): Moment[] {
  const { id, record_id, created_at, ended_at, duration_ms, state, attempts } = delivery
  return [
    { kind: 'delivery', id, parent_id: record_id, at: created_at, ended_at, duration_ms, state },
    ...attempts.map((attempt): Moment => ({
      kind: 'attempt',
      id: attempt.id,
      parent_id: id,
      at: attempt.started_at,
      ended_at: attempt.ended_at,
      duration_ms: attempt.duration_ms,
      state: attempt.outcome ?? 'sending',
    })),
  ]
}

const KINDS: readonly Moment['kind'][] = ['rejection', 'submission', 'record', 'delivery', 'attempt']

/** Sorts by time, and in the same millisecond by the order of the path. Timestamps have one form, so they sort as text. */
const ORDER = (a: Moment, b: Moment): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || (a.id < b.id ? -1 : 1)
