import { LIMITS, type WebhookConfig } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { actorNames } from '../../workspace/audit/index.ts'
import type { Room } from '../../verbs.ts'
import { configOf } from './present.ts'
import {
  deleteVersionsUpTo,
  findVersion,
  findWebhook,
  insertVersion,
  listVersions as listRows,
  type VersionRow,
  type WebhookRow,
} from './queries.ts'

/** Stores the settings of a row as its newest version, in the change that made them. Deletes the oldest versions beyond the limit. */
export async function keepVersion(
  tx: Ctx,
  row: WebhookRow,
  of: { readonly before: WebhookRow | undefined; readonly restoredFrom: number | null },
): Promise<void> {
  const { id, version } = row
  await insertVersion(tx.db, {
    ...tx,
    id,
    version,
    config: configOf(row),
    changed: changedMembers(of.before, row),
    restored_from: of.restoredFrom,
    ...actorNames(tx),
    now: new Date(tx.clock.now()),
  })
  await deleteVersionsUpTo(tx.db, { ...tx, id, version: version - LIMITS.webhookVersionsRetained })
}

/** The settings that differ; all of them when there was no row before. */
export function changedMembers(before: WebhookRow | undefined, row: WebhookRow): readonly string[] {
  const [was, is] = [
    new Map<string, unknown>(before === undefined ? [] : Object.entries(configOf(before))),
    Object.entries(configOf(row)),
  ]
  return is
    .filter(([member, value]) => !was.has(member) || JSON.stringify(was.get(member)) !== JSON.stringify(value))
    .map(([member]) => member)
}

export const listVersions: Room<'webhooks'>['listVersions'] = async (ctx, { id, limit, cursor }) => {
  if ((await findWebhook(ctx.db, { ...ctx, id })) === undefined) throw refuse('not_found')
  const rows = await listRows(ctx.db, { ...ctx, id, before: afterVersion(cursor), limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    versions: page.map(present),
    next_cursor: rows.length > limit && last !== undefined ? String(last.version) : null,
  }
}

export const getVersion: Room<'webhooks'>['getVersion'] = async (ctx, at) => {
  const row = await findVersionOf(ctx, at)
  return { version: { ...present(row), config: row.config } }
}

/** A version that does not exist, or no longer exists, gives the same response as a missing endpoint. */
export async function findVersionOf(
  ctx: Ctx,
  at: { readonly id: string; readonly version: number },
): Promise<VersionRow & { readonly config: WebhookConfig }> {
  const row = await findVersion(ctx.db, { ...ctx, ...at })
  if (row === undefined) throw refuse('not_found')
  return row
}

/** Versions are numbered, so the cursor is the last number of the previous page. */
function afterVersion(cursor: string | undefined): number | null {
  if (cursor === undefined) return null
  if (!/^[1-9]\d{0,8}$/.test(cursor))
    throw refuse('invalid_request', 'The cursor is not valid; send next_cursor of the previous page unchanged.')
  return Number(cursor)
}

function present({ version, changed, restored_from, actor, agent, created_at }: VersionRow) {
  return { version, changed: [...changed], restored_from, actor, agent, created_at: created_at.toISOString() }
}
