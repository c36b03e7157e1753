import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { presentInstance, presentStepRun } from './present.ts'
import {
  cancelInstances,
  findInstance,
  insertInstance,
  listInstances,
  listStepRuns,
  retryInstance,
  type InstanceRow,
} from './queries.ts'

export { presentInstance } from './present.ts'
export { cancelInstances, listInstances, type InstanceRow } from './queries.ts'

/** One instance of the project, or 404. */
async function getInstance(ctx: Ctx, id: string): Promise<InstanceRow> {
  const row = await findInstance(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  return row
}

type Start = {
  readonly workflowId: string
  readonly version: number
  readonly recordId: string
  readonly dataset: string
  readonly hops: number
}

/** Starts an instance for a person. The caller audits it. */
export async function startInstance(tx: Ctx, start: Start): Promise<InstanceRow> {
  const id = tx.uuid()
  await insertInstance(tx.db, { ...tx, ...start, id, now: new Date(tx.clock.now()) })
  tx.afterCommit?.(tx.instancesDue)
  return getInstance(tx, id)
}

export const workflowInstances: Room<'workflowInstances'> = {
  list: async (ctx, { limit, cursor, workflow_id, record_id, state }) => {
    const found = await listInstances(ctx.db, {
      ...ctx,
      workflowId: workflow_id ?? null,
      recordIds: record_id === undefined ? null : [record_id],
      states: state ?? null,
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { instances: rows.map(presentInstance), next_cursor }
  },

  get: async (ctx, { id }) => {
    const row = await getInstance(ctx, id)
    const steps = await listStepRuns(ctx.db, { ...ctx, id, limit: LIMITS.workflowStepRunsShownMax })
    return { instance: { ...presentInstance(row), steps: steps.map(presentStepRun) } }
  },

  cancel: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const row = await getInstance(tx, id)
      if ((await cancelInstances(tx.db, { ...tx, id, now: new Date(tx.clock.now()) })) === 0)
        throw refuse('invalid_state', 'This instance has already ended, so there is nothing to cancel.')
      const after = await getInstance(tx, id)
      await auditOf(tx, 'cancel_workflow_instance', { row, after })
      return { instance: presentInstance(after) }
    }),

  retry: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const row = await getInstance(tx, id)
      if (row.workflow === null)
        throw refuse('invalid_state', 'The workflow of this instance was deleted, so it cannot continue.')
      if (row.error?.reason === 'context_too_large')
        throw refuse(
          'invalid_state',
          'The outputs of this instance were too large to store, so it cannot continue. Run the workflow on the record to start another one.',
        )
      if (!(await retryInstance(tx.db, { ...tx, id, now: new Date(tx.clock.now()) })))
        throw refuse(
          'invalid_state',
          'Only a failed instance can be retried. Run the workflow on the record to start another one.',
        )
      const after = await getInstance(tx, id)
      await auditOf(tx, 'retry_workflow_instance', { row, after })
      tx.afterCommit(tx.instancesDue)
      return { instance: presentInstance(after) }
    }),
}

type Moved = { readonly row: InstanceRow; readonly after: InstanceRow }

// oxlint-disable-next-line max-params -- the transaction, the action, and the instance before and after
function auditOf(tx: Ctx, action: string, { row, after }: Moved): Promise<void> {
  return audit(tx, {
    action,
    target: encodeId('workflowInstance', row.id),
    details: { workflow_id: encodeId('workflow', row.workflow_id), state: row.state },
    change: { before: { state: row.state }, after: { state: after.state } },
  })
}
