import { encodeId } from '@postroad/contract'
import { wordOf } from '@postroad/contract/lights'
import { spanIdNamed, spanIdOf, traceIdOf } from '../../domain/delivery/trace-context.ts'
import { attributesOf, type Piece, type SpanItem } from '../../domain/serving/forwarding/items.ts'
import type { AiRunRow, InstanceRow, StepRow } from '../../resources/serving/forwarders/rows/queries.ts'

/** Ended instances of workflows, and ended runs of agents. They belong to the trace of the event that started them. */

const FAILED: ReadonlySet<string> = new Set(['failed'])

type Ended = Pick<
  InstanceRow,
  'id' | 'record_id' | 'submission_id' | 'dataset' | 'state' | 'error' | 'created_at' | 'ended_at'
>

type Named = {
  readonly name: string
  readonly event: string
  readonly what: string
  readonly parentId: string | undefined
  readonly start: number
  readonly attributes: SpanItem['attributes']
}

/** If retention has removed the record, its id is the next best trace. */
const traceOf = (row: Pick<Ended, 'submission_id' | 'record_id'>): string =>
  traceIdOf(row.submission_id ?? row.record_id)

function pieceOfEnded(row: Ended, { name, event, what, parentId, start, attributes }: Named): Piece {
  const failed = FAILED.has(row.state)
  const error = failed ? (row.error?.error ?? 'It failed.') : undefined
  const span: SpanItem = {
    traceId: traceOf(row),
    spanId: spanIdOf(row.id),
    parentId: parentId ?? (row.submission_id === null ? undefined : spanIdOf(row.submission_id)),
    name,
    kind: 'internal',
    start,
    end: Math.max(start, row.ended_at.getTime()),
    attributes: {
      ...attributes,
      ...attributesOf({
        'postroad.record.id': encodeId('record', row.record_id),
        'postroad.submission.id': row.submission_id === null ? null : encodeId('submission', row.submission_id),
        'postroad.dataset': row.dataset,
        'postroad.state': row.state,
        'error.type': failed ? 'failed' : null,
      }),
    },
    error,
    link: undefined,
  }
  const log = {
    at: span.end,
    severity: failed ? 'error' : 'info',
    event,
    body: error === undefined ? `${what} ended: ${wordOf(row.state)}.` : `${what} failed: ${error}`,
    attributes: span.attributes,
    traceId: span.traceId,
    spanId: span.spanId,
  } as const
  return { traceId: span.traceId, failed, logs: [log], spans: [span] }
}

export function pieceOfInstance(row: InstanceRow, steps: readonly StepRow[]): Piece {
  const piece = pieceOfEnded(row, {
    name: 'workflow',
    event: 'postroad.workflow_instance.ended',
    what: `The instance of workflow ${row.workflow ?? '(deleted)'}`,
    parentId: undefined,
    start: row.created_at.getTime(),
    attributes: attributesOf({
      'postroad.workflow.id': encodeId('workflow', row.workflow_id),
      'postroad.workflow.name': row.workflow,
      'postroad.workflow.version': row.version,
      'postroad.workflow_instance.id': encodeId('workflowInstance', row.id),
    }),
  })
  const until = row.ended_at.getTime()
  return { ...piece, spans: [...piece.spans, ...steps.map((step) => stepSpan(step, { row, until }))] }
}

function stepSpan(step: StepRow, { row, until }: { row: InstanceRow; until: number }): SpanItem {
  const start = step.started_at.getTime()
  return {
    traceId: traceOf(row),
    spanId: spanIdNamed(`${row.id} step ${step.seq}`),
    parentId: spanIdOf(row.id),
    name: `step ${step.type}`,
    kind: 'internal',
    start,
    end: Math.max(start, step.ended_at?.getTime() ?? until),
    attributes: attributesOf({
      'postroad.workflow_instance.id': encodeId('workflowInstance', row.id),
      'postroad.step.id': step.step_id,
      'postroad.step.type': step.type,
      'postroad.step.attempt': step.attempt,
      'postroad.state': step.state,
    }),
    error: step.state === 'failed' ? 'The step failed.' : undefined,
    link: undefined,
  }
}

export function pieceOfAiRun(row: AiRunRow): Piece {
  return pieceOfEnded(row, {
    name: 'ai_run',
    event: 'postroad.ai_run.ended',
    what: `The run of agent ${row.agent ?? '(deleted)'}`,
    parentId: row.instance_id === null ? undefined : spanIdOf(row.instance_id),
    start: (row.started_at ?? row.created_at).getTime(),
    attributes: attributesOf({
      'postroad.ai_agent.id': encodeId('aiAgent', row.agent_id),
      'postroad.ai_run.id': encodeId('aiRun', row.id),
      'gen_ai.agent.name': row.agent,
      'gen_ai.request.model': row.model,
      'gen_ai.usage.input_tokens': row.input_tokens,
      'gen_ai.usage.output_tokens': row.output_tokens,
    }),
  })
}
