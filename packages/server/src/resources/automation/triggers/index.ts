import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { creatorOf } from '../../../domain/people/actor.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { checkConditions } from '../../check-conditions.ts'
import { afterCursor, readPage } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged, lockProject } from '../../workspace/projects/index.ts'
import { findAgent } from '../ai-agents/index.ts'
import {
  countTriggers,
  deleteTrigger,
  findTrigger,
  insertTrigger,
  listTriggers,
  updateTrigger,
  type AiTriggerRow,
} from './queries.ts'

const present = ({ created_by: _creator, ...row }: AiTriggerRow) => ({
  ...row,
  id: encodeId('aiTrigger', row.id),
  agent_id: encodeId('aiAgent', row.agent_id),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

export const triggers: Room<'triggers'> = {
  list: async (ctx, { limit, cursor }) => {
    const before = afterCursor(cursor)
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listTriggers(db, { ...ctx, before, limit: most }),
    })
    return { triggers: rows.map(present), next_cursor }
  },

  create: (ctx, input) => {
    checkConditions(input.conditions, 'conditions')
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      if ((await countTriggers(tx.db, tx)) >= LIMITS.aiTriggersPerProjectMax) throw refuse('automation_limit_reached')
      await checkAgent(tx, input.agent_id)
      const [id, now] = [tx.uuid(), new Date(tx.clock.now())]
      const row = await insertTrigger(tx.db, { ...tx, ...input, id, created_by: creatorOf(tx.actor), now })
      if (row === undefined) throw refuse('name_taken')
      await audit(tx, {
        action: 'create_ai_trigger',
        target: encodeId('aiTrigger', id),
        details: { name: row.name, dataset: row.dataset },
        change: { before: null, after: present(row) },
      })
      await configChanged(tx)
      return { trigger: present(row) }
    })
  },

  get: async (ctx, { id }) => ({ trigger: present(await triggerOf(ctx, id)) }),

  update: (ctx, { id, ...change }) => {
    checkConditions(change.conditions, 'conditions')
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      const held = await triggerOf(tx, id)
      if (change.agent_id !== undefined) await checkAgent(tx, change.agent_id)
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const now = new Date(tx.clock.now())
      const row = await updateTrigger(tx.db, { ...tx, ...held, ...given, created_by: creatorOf(tx.actor), now })
      if (row === undefined) throw refuse('name_taken')
      await audit(tx, {
        action: 'update_ai_trigger',
        target: encodeId('aiTrigger', id),
        details: { changed: Object.keys(given) },
        change: { before: present(held), after: present(row) },
      })
      await configChanged(tx)
      return { trigger: present(row) }
    })
  },

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      const before = present(await triggerOf(tx, id))
      await deleteTrigger(tx.db, { ...tx, id })
      await audit(tx, {
        action: 'delete_ai_trigger',
        target: encodeId('aiTrigger', id),
        change: { before, after: null },
      })
      await configChanged(tx)
      return { ok: true }
    }),
}

async function triggerOf(ctx: Ctx, id: string): Promise<AiTriggerRow> {
  const row = await findTrigger(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  return row
}

async function checkAgent(ctx: Ctx, id: string): Promise<void> {
  if ((await findAgent(ctx.db, { ...ctx, id, now: new Date(ctx.clock.now()) })) === undefined)
    throw refuse('invalid_request', 'agent_id: this project has no AI agent with this id. Create it first.')
}
