import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import {
  askToVerify,
  deleteQuarantined,
  findQuarantine,
  listQuarantined,
  setQuarantine,
  type QuarantinedRow,
} from './queries.ts'

export { listQuarantineHours } from './queries.ts'

export const quarantine: Room<'quarantine'> = {
  get: (ctx, { id }) => shown(ctx, id),

  update: (ctx, { id, hours }) =>
    inTransaction(ctx, async (tx) => {
      const before = await hoursOf(tx, id)
      if ((await setQuarantine(tx.db, { ...tx, webhookId: id, hours })) === 0) throw refuse('not_found')
      if (hours === 0) await deleteQuarantined(tx.db, { ...tx, webhookId: id })
      await audit(tx, {
        action: 'update_quarantine',
        target: encodeId('webhook', id),
        details: { hours },
        change: { before, after: { quarantine_hours: hours } },
      })
      await configChanged(tx)
      return shown(tx, id)
    }),

  verify: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      if ((await askToVerify(tx.db, { ...tx, webhookId: id })) === 0) throw refuse('not_found')
      await audit(tx, { action: 'verify_quarantine', target: encodeId('webhook', id) })
      return shown(tx, id)
    }),

  discard: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      await shown(tx, id)
      const count = await deleteQuarantined(tx.db, { ...tx, webhookId: id })
      await audit(tx, {
        action: 'discard_quarantine',
        target: encodeId('webhook', id),
        details: { count },
        change: { before: { quarantined: count }, after: { quarantined: 0 } },
      })
      return { ok: true }
    }),
}

async function hoursOf(ctx: Ctx, webhookId: string): Promise<object> {
  const found = await findQuarantine(ctx.db, { ...ctx, webhookId })
  if (found === undefined) throw refuse('not_found')
  return { quarantine_hours: found.hours }
}

async function shown(ctx: Ctx, webhookId: string) {
  const found = await findQuarantine(ctx.db, { ...ctx, webhookId })
  if (found === undefined) throw refuse('not_found')
  const requests = await listQuarantined(ctx.db, { ...ctx, webhookId, limit: LIMITS.quarantineShown })
  return {
    quarantine: { ...found, checked_at: found.checked_at?.toISOString() ?? null, requests: requests.map(present) },
  }
}

const present = (row: QuarantinedRow) => ({
  ...row,
  id: encodeId('quarantinedRequest', row.id),
  received_at: row.received_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
})
