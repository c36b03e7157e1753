import { LIMITS, type RouteOutput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import {
  listAttemptsOf,
  listDeliveriesOf,
  presentDeliveries,
  type DeliveryRow,
} from '../../delivery/deliveries/index.ts'
import { listRuns } from '../../automation/ai-runs/index.ts'
import { listInstances } from '../../automation/workflow-instances/index.ts'
import { listRecordsById } from '../../capture/records/index.ts'
import { findSubmission, wholeDecision } from '../../capture/submissions/index.ts'
import type { Room } from '../../verbs.ts'
import { named, type Named } from './named.ts'
import { storyOf, type StoryRows } from './story.ts'

const { correlatedDeliveriesMax, correlatedAttemptsMax } = LIMITS

/** Any id, or any Request-Id of ingest → everything that belongs to it. A missing id and one of another project give the same response. */
export const correlate: Room<'search'>['correlate'] = async (ctx, { id }) => {
  const found = await named(ctx, id)
  const { rows, truncated } = await rowsOf(ctx, found)
  return { id, truncated, ...storyOf(rows) } satisfies RouteOutput<Routes['search']['correlate']>
}

const OF_RECORDS = { agentId: null, triggerId: null, state: null, from: null, before: null }

async function rowsOf(ctx: Ctx, found: Named): Promise<{ readonly rows: StoryRows; readonly truncated: boolean }> {
  const submission =
    found.submissionId === undefined
      ? null
      : ((await findSubmission(ctx.db, { ...ctx, id: found.submissionId })) ?? null)
  const recordIds = submission?.record_ids ?? found.recordIds
  const limit = correlatedDeliveriesMax + 1
  const [decision, records, instances, runs, deliveries] = await Promise.all([
    submission === null ? null : wholeDecision(ctx, submission),
    listRecordsById(ctx.db, { ...ctx, ids: recordIds }),
    listInstances(ctx.db, {
      ...ctx,
      recordIds,
      workflowId: null,
      states: null,
      before: null,
      limit,
    }),
    found.runs ?? listRuns(ctx.db, { ...ctx, ...OF_RECORDS, recordIds, limit }),
    found.deliveries ?? listDeliveriesOf(ctx.db, { ...ctx, recordIds, limit }),
  ])
  const shown: readonly DeliveryRow[] = deliveries.slice(0, correlatedDeliveriesMax)
  const attempts = await listAttemptsOf(ctx.db, {
    ...ctx,
    deliveryIds: shown.map((row) => row.id),
    limit: correlatedAttemptsMax + 1,
  })
  return {
    rows: {
      subject: found.subject,
      rejection: found.rejection ?? null,
      submission,
      decision,
      records,
      deliveries: await presentEach(ctx, shown),
      attempts: attempts.slice(0, correlatedAttemptsMax),
      instances: instances.slice(0, correlatedDeliveriesMax),
      runs: runs.slice(0, correlatedDeliveriesMax),
    },
    truncated:
      [deliveries, instances, runs].some(({ length }) => length > correlatedDeliveriesMax) ||
      attempts.length > correlatedAttemptsMax,
  }
}

async function presentEach(ctx: Ctx, rows: readonly DeliveryRow[]): Promise<StoryRows['deliveries']> {
  const shown = await presentDeliveries(ctx, rows)
  return rows.flatMap((row, index) => {
    const one = shown[index]
    return one === undefined ? [] : [{ row, shown: one }]
  })
}
