import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { schemaProblem } from '../../../domain/automation/ai/output-schema.ts'
import { creatorOf } from '../../../domain/people/actor.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, readPage } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { lockProject } from '../../workspace/projects/index.ts'
import { findProvider } from '../ai-providers/index.ts'
import {
  countAgents,
  deleteAgent,
  findAgent,
  insertAgent,
  listAgents,
  updateAgent,
  type AiAgentRow,
} from './queries.ts'

export { findAgent, listAgentNames } from './queries.ts'

const present = (row: AiAgentRow) => ({
  ...row,
  id: encodeId('aiAgent', row.id),
  provider_id: encodeId('aiProvider', row.provider_id),
  tools: [...row.tools],
  created_by: row.created_by === null ? null : encodeId('user', row.created_by),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

export const aiAgents: Room<'aiAgents'> = {
  list: async (ctx, { limit, cursor }) => {
    const page = { before: afterCursor(cursor), now: nowOf(ctx) }
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listAgents(db, { ...ctx, ...page, limit: most }),
    })
    return { ai_agents: rows.map(present), next_cursor }
  },

  create: (ctx, input) => {
    checkSchema(input.output_schema)
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      if ((await countAgents(tx.db, tx)) >= LIMITS.agentsPerProjectMax) throw refuse('automation_limit_reached')
      await checkProvider(tx, input.provider_id)
      const id = tx.uuid()
      const written = { ...tx, ...input, id, created_by: creatorOf(tx.actor), now: nowOf(tx) }
      if ((await insertAgent(tx.db, written)) === 0) throw refuse('name_taken')
      const made = present(await agentOf(tx, id))
      await audit(tx, {
        action: 'create_ai_agent',
        target: encodeId('aiAgent', id),
        details: { name: input.name, tools: input.tools },
        change: { before: null, after: made },
      })
      return { ai_agent: made }
    })
  },

  get: async (ctx, { id }) => ({ ai_agent: present(await agentOf(ctx, id)) }),

  update: (ctx, { id, ...change }) => {
    checkSchema(change.output_schema ?? null)
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      const held = await agentOf(tx, id)
      if (change.provider_id !== undefined) await checkProvider(tx, change.provider_id)
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const written = { ...tx, ...held, ...given, created_by: creatorOf(tx.actor), now: nowOf(tx) }
      if ((await updateAgent(tx.db, written)) === 0) throw refuse('name_taken')
      const after = present(await agentOf(tx, id))
      await audit(tx, {
        action: 'update_ai_agent',
        target: encodeId('aiAgent', id),
        details: { changed: Object.keys(given) },
        change: { before: present(held), after },
      })
      return { ai_agent: after }
    })
  },

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      const before = present(await agentOf(tx, id))
      if ((await deleteAgent(tx.db, { ...tx, id })) === 0) throw refuse('ai_agent_in_use')
      await audit(tx, { action: 'delete_ai_agent', target: encodeId('aiAgent', id), change: { before, after: null } })
      return { ok: true }
    }),
}

const nowOf = ({ clock }: Ctx): Date => new Date(clock.now())

async function agentOf(ctx: Ctx, id: string): Promise<AiAgentRow> {
  const row = await findAgent(ctx.db, { ...ctx, id, now: nowOf(ctx) })
  if (row === undefined) throw refuse('not_found')
  return row
}

async function checkProvider(ctx: Ctx, id: string): Promise<void> {
  if ((await findProvider(ctx.db, { ...ctx, id })) === undefined)
    throw refuse('invalid_request', 'provider_id: this project has no AI provider with this id. Create it first.')
}

function checkSchema(schema: Record<string, unknown> | null): void {
  const problem = schema === null ? undefined : schemaProblem(schema)
  if (problem !== undefined) throw refuse('invalid_request', `output_schema: ${problem}`)
}
