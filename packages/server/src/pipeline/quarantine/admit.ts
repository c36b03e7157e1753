import type { Deps } from '../../context.ts'
import { SeparateRows, type LoopWork } from '../../platform/separate-rows.ts'
import { separately } from '../../platform/separately.ts'
import {
  deleteExpiredQuarantined,
  findUpdatedAt,
  listSealed,
  listUnchecked,
  setChecked,
  takeOut,
  type SealedRequest,
  type UncheckedWebhook,
} from '../../resources/capture/quarantine/queries.ts'
import type { Accepted, AcceptAll } from '../accept.ts'
import { capturedAgain } from './sealed-request.ts'

const WEBHOOKS_AT_ONCE = 20
/** Bounds one run, so that a process stops soon when asked. */
const ROUNDS_MAX = 25
const AT_ONCE = { limit: 20, bytesMax: 8_388_608 }
const FIRST = '00000000-0000-0000-0000-000000000000'

/** Refusals after which a request stays, because a later attempt, or a change of the endpoint, can admit it. */
const STAYS: ReadonlySet<string> = new Set([
  'missing_header',
  'bad_signature',
  'stale_timestamp',
  'provider_unavailable',
  'endpoint_not_found',
  'endpoint_disabled',
  'ip_not_allowed',
  'workspace_suspended',
  'workspace_closed',
  'quota_exceeded',
  'storage_unavailable',
])

type Admitting = Deps & { readonly acceptAll: AcceptAll }

/**
 * Verifies the requests in quarantine again when their endpoint has changed, and deletes those whose hours have passed.
 * One commit stores a request that passes as an event and removes it from the quarantine. Counts endpoints.
 */
export async function admitQuarantined(deps: Admitting): Promise<LoopWork> {
  const rows = new SeparateRows(deps.retryLog, 'quarantine.not_admitted')
  const expire = () => deleteExpiredQuarantined(deps.database.forSystem, new Date(deps.clock.now()))
  await separately([expire, () => admitChanged(deps, rows)], (part) => part())
  return rows.outcome
}

async function admitChanged(deps: Admitting, rows: SeparateRows): Promise<void> {
  const system = deps.database.forSystem
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const without = rows.failed
    // oxlint-disable-next-line no-await-in-loop -- round after round
    const unchecked = await listUnchecked(system, { without, limit: WEBHOOKS_AT_ONCE })
    for (const webhook of unchecked)
      // oxlint-disable-next-line no-await-in-loop -- one endpoint after another
      await rows.run({ kind: 'webhook', id: webhook.id }, () => admitOf(deps, webhook))
    // Only endpoints that fail make room for the next ones in the same run.
    if (rows.failed.length === without.length) return
  }
}

async function admitOf(deps: Admitting, { workspace_id, project_id, id }: UncheckedWebhook): Promise<void> {
  const of = { workspaceId: workspace_id, projectId: project_id, webhookId: id }
  const db = deps.database.forWorkspace(workspace_id)
  const before = await findUpdatedAt(db, of)
  if (before === undefined) return
  let [after, full] = [FIRST, true]
  while (full) {
    // oxlint-disable-next-line no-await-in-loop -- each batch starts where the previous one ended
    const batch = await listSealed(db, { ...of, after, ...AT_ONCE })
    // oxlint-disable-next-line no-await-in-loop -- in the order in which they came
    if (batch.length > 0) await admitBatch(deps, of, batch)
    after = batch.at(-1)?.id ?? after
    full = batch.length > 0
  }
  await setChecked(db, { ...of, now: new Date(deps.clock.now()), updatedAt: before.updated_at })
}

// oxlint-disable-next-line max-params -- dependencies, the endpoint, and its requests
async function admitBatch(
  deps: Admitting,
  of: { readonly workspaceId: string; readonly projectId: string },
  batch: readonly SealedRequest[],
): Promise<void> {
  await deps.acceptAll(
    batch.map((held) => capturedAgain(deps, held)),
    async (tx, outcomes) => {
      const ids = batch.flatMap(({ id }, index) => (leaves(outcomes[index]) ? [id] : []))
      if (ids.length === 0) return
      const taken = await takeOut(tx, { ...of, ids })
      // Another process has admitted or discarded some. Nothing of this batch is stored; the next run reads the rest.
      if (taken.length < ids.length) throw new Error('Requests left the quarantine while they were admitted.')
    },
  )
}

/** Returns whether a request is stored, or can never be. */
function leaves(outcome: Accepted | undefined): boolean {
  if (outcome === undefined || outcome.kind === 'busy') return false
  return outcome.kind !== 'rejected' || !STAYS.has(outcome.reason)
}
