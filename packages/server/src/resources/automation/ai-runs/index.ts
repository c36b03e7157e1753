import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { maskCredentials } from '../../../domain/capture/mask-credentials.ts'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { idRange } from '../../id-range.ts'
import { checkConditions } from '../../check-conditions.ts'
import { afterCursor } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { searchRuns } from './search.ts'
import {
  cancelRun,
  findRun,
  forgetLastAnswers,
  listRunSteps,
  reopenRun,
  type AiRunRow,
  type RunStepRow,
} from './queries.ts'

export { listRuns, setRunsPaused, type AiRunRow, type RunFilter } from './queries.ts'

const MICROS = 1_000_000

const presentRun = (row: AiRunRow) => ({
  id: encodeId('aiRun', row.id),
  agent_id: encodeId('aiAgent', row.agent_id),
  trigger_id: row.trigger_id === null ? null : encodeId('aiTrigger', row.trigger_id),
  instance_id: row.instance_id === null ? null : encodeId('workflowInstance', row.instance_id),
  step_id: row.step_id,
  record_id: encodeId('record', row.record_id),
  dataset: row.dataset,
  state: row.state,
  paused: row.paused_at !== null,
  attempt: row.attempt,
  next_attempt_at: row.state === 'queued' ? (row.due_at?.toISOString() ?? null) : null,
  output: row.output ?? null,
  error: row.error,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  cost: row.cost_micros === null ? null : row.cost_micros / MICROS,
  created_at: row.created_at.toISOString(),
  started_at: row.started_at?.toISOString() ?? null,
  ended_at: row.ended_at?.toISOString() ?? null,
})

export function presentRunWithoutOutput(row: AiRunRow) {
  const { output: _output, ...presented } = presentRun(row)
  return presented
}

const presentStep = (row: RunStepRow) => ({
  seq: row.seq,
  kind: row.kind,
  tool: row.tool,
  input: shown(row.input),
  output: shown(row.output),
  error: row.error,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  at: row.at.toISOString(),
})

/** Masks all text that looks like a credential. The dots contain nothing that JSON would escape. */
function shown(value: unknown): unknown {
  if (value === null || value === undefined) return null
  const masked = parseStoredJson(maskCredentials(JSON.stringify(value), ''))
  return masked.ok ? masked.value : null
}

export const aiRuns: Room<'aiRuns'> = {
  search: async (ctx, { limit, cursor, agent_id, trigger_id, record_id, state, q, f, ...times }) => {
    checkConditions(f, 'f')
    const { fromId, toId } = idRange(times)
    const { rows, next_cursor, scanned } = await searchRuns(ctx, {
      wanted: {
        agentId: agent_id ?? null,
        triggerId: trigger_id ?? null,
        recordIds: record_id === undefined ? null : [record_id],
        state: state ?? null,
        from: fromId,
      },
      filter: { text: q ?? null, conditions: f },
      before: afterCursor(cursor) ?? toId,
      limit,
    })
    return { ai_runs: rows.map(presentRun), next_cursor, scanned }
  },

  get: async (ctx, { id }) => {
    const row = await runOf(ctx, id)
    const steps = await listRunSteps(ctx.db, { ...ctx, runId: id })
    return { ai_run: { ...presentRun(row), steps: steps.map(presentStep) } }
  },

  cancel: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const before = stateOf(await runOf(tx, id))
      if (!(await cancelRun(tx.db, { ...tx, id, now: new Date(tx.clock.now()) }))) throw refuse('ai_run_ended')
      const row = await runOf(tx, id)
      await audit(tx, {
        action: 'cancel_ai_run',
        target: encodeId('aiRun', id),
        change: { before, after: stateOf(row) },
      })
      return { ai_run: presentRun(row) }
    }),

  retry: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const before = stateOf(await runOf(tx, id))
      if (!(await reopenRun(tx.db, { ...tx, id, now: new Date(tx.clock.now()) }))) throw refuse('ai_run_not_ended')
      await forgetLastAnswers(tx.db, { ...tx, runId: id })
      const row = await runOf(tx, id)
      await audit(tx, {
        action: 'retry_ai_run',
        target: encodeId('aiRun', id),
        change: { before, after: stateOf(row) },
      })
      return { ai_run: presentRun(row) }
    }),
}

const stateOf = ({ state }: AiRunRow): object => ({ state })

async function runOf(ctx: Ctx, id: string): Promise<AiRunRow> {
  const row = await findRun(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  return row
}
