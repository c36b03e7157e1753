import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { checkConditions } from '../../check-conditions.ts'
import { dryRun } from '../../dry-run.ts'
import { afterCursor, readPage } from '../../page.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { keepDeleted, putBack, type Snapshot } from '../../workspace/snapshots/index.ts'
import type { Room } from '../../verbs.ts'
import { deleteRule, findRule, insertRule, listRules, updateRule, type RuleRow } from './queries.ts'

const present = (row: RuleRow) => ({
  ...row,
  id: encodeId('rule', row.id),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** The settings of a new rule: it matches everything and files the whole payload. */
const UNSAVED: Pick<RuleRow, 'conditions' | 'mappings'> = { conditions: [], mappings: [] }

export const rules: Room<'rules'> = {
  list: async (ctx, { limit, cursor }) => {
    const before = afterCursor(cursor)
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listRules(db, { ...ctx, before, limit: most }),
    })
    return { rules: rows.map(present), next_cursor }
  },

  create: (ctx, input) => {
    checkConditions(input.conditions, 'conditions')
    return inTransaction(ctx, async (tx) => {
      const row = await insertRule(tx.db, { ...tx, ...input, id: tx.uuid(), now: new Date(tx.clock.now()) })
      if (row === undefined) throw refuse('name_taken')
      await audit(tx, {
        action: 'create_rule',
        target: encodeId('rule', row.id),
        details: { name: row.name, dataset: row.dataset },
        change: { before: null, after: present(row) },
      })
      await configChanged(tx)
      return { rule: present(row) }
    })
  },

  get: async (ctx, { id }) => {
    const row = await findRule(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { rule: present(row) }
  },

  update: (ctx, { id, ...change }) => {
    checkConditions(change.conditions, 'conditions')
    return inTransaction(ctx, async (tx) => {
      const held = await findRule(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const row = await updateRule(tx.db, { ...tx, ...held, ...given, now: new Date(tx.clock.now()) })
      if (row === undefined) throw refuse('name_taken')
      await audit(tx, {
        action: 'update_rule',
        target: encodeId('rule', id),
        details: { changed: Object.keys(given) },
        change: { before: present(held), after: present(row) },
      })
      await configChanged(tx)
      return { rule: present(row) }
    })
  },

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findRule(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      const deletion = await keepDeleted(tx, { kind: 'rule', id, name: held.name })
      await deleteRule(tx.db, { ...tx, id })
      await audit(tx, {
        action: 'delete_rule',
        target: encodeId('rule', id),
        details: { name: held.name, deletion_id: deletion.id },
        change: { before: present(held), after: null },
      })
      await configChanged(tx)
      return { ok: true, deletion }
    }),

  test: async (ctx, { rule_id, conditions, mappings, ...on }) => {
    checkConditions(conditions, 'conditions')
    const held = rule_id === undefined ? UNSAVED : await findRule(ctx.db, { ...ctx, id: rule_id })
    if (held === undefined) throw refuse('not_found')
    return dryRun(ctx, {
      ...on,
      conditions: conditions ?? held.conditions,
      mappings: mappings ?? held.mappings,
      split: null,
      webhookId: null,
    })
  },
}

/** Puts a deleted rule back. */
export async function putBackRule(tx: Ctx, snapshot: Snapshot & { readonly id: string }) {
  const row = (await putBack(tx, snapshot)) ? await findRule(tx.db, { ...tx, id: snapshot.id }) : undefined
  if (row === undefined)
    throw refuse('name_taken', 'Another rule now has this name. Rename that rule, then restore this one.')
  await configChanged(tx)
  return present(row)
}
