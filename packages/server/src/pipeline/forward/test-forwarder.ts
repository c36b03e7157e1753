import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { spanIdOf, traceIdOf } from '../../domain/delivery/trace-context.ts'
import type { ForwarderTestAsked, ForwarderTested } from '../../features.ts'
import type { Item } from './batch.ts'
import { exportItems, type Exported } from './export.ts'
import { resourceOf } from './resource.ts'

/** Sends a test log record and a test span, each as its signal. Nothing is stored. */
export function testForwarder(deps: Deps, asked: ForwarderTestAsked): Promise<readonly ForwarderTested[]> {
  const { workspaceId, projectId, signals, ...receiver } = asked
  const now = deps.clock.now()
  const id = deps.uuid()
  const [traceId, spanId] = [traceIdOf(id), spanIdOf(id)]
  const attributes = { 'postroad.test': true }
  const items: Readonly<Record<'logs' | 'traces', Item>> = {
    logs: {
      at: now,
      severity: 'info',
      event: 'postroad.test',
      body: 'Postroad tests this forwarder.',
      attributes,
      traceId,
      spanId,
    },
    traces: {
      traceId,
      spanId,
      parentId: undefined,
      name: 'test',
      kind: 'internal',
      start: now,
      end: now,
      attributes,
      error: undefined,
      link: undefined,
    },
  }
  const resource = resourceOf({ workspace_id: workspaceId, project_id: projectId })
  return Promise.all(
    signals.map(async (signal) => {
      const exported = await exportItems(
        deps,
        { ...receiver, resource, lane: `test ${projectId}` },
        { signal, items: [items[signal]], timeoutMs: LIMITS.forwarderRequestMs },
      )
      const { status, durationMs } = exported
      const error = errorOf(exported, now)
      return { signal, ok: error === null, status, error, duration_ms: durationMs }
    }),
  )
}

function errorOf(exported: Exported, now: number): ForwarderTested['error'] {
  const at = new Date(now).toISOString()
  if (exported.kind !== 'accepted')
    return { at, reason: exported.kind === 'failed' ? exported.reason : 'bad_status', error: exported.error }
  if (exported.rejected === 0) return null
  return { at, reason: 'refused', error: `The receiver refused the record: ${exported.text ?? 'it gave no reason'}.` }
}
