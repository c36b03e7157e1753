import { encodeId, LIMITS, type RouteInput, type Routes, type SourceSettings } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { checkConditions } from '../../check-conditions.ts'
import { afterCursor, readPage } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { lockProject } from '../../workspace/projects/index.ts'
import { presentSource } from './present.ts'
import {
  countSources,
  deleteSource,
  findSource,
  insertSource,
  listSources,
  updateSource,
  type SourceRow,
  type StoredSettings,
} from './queries.ts'
import { stopSource } from './slots/queries.ts'
import { divide, openSecret, sealSecret, type Divided } from './secret.ts'

export { listFailingSources } from './queries.ts'
export { notifyRetains } from './notify-retains.ts'
export { notifySwitchedOff } from './notify-switched-off.ts'
export { openSecret as openSourceSecret } from './secret.ts'
export { retainsTooMuch, warningOf } from './slot.ts'
export { claimSlots, forgetSlot, storeSlot, type ClaimedSlot } from './slots/queries.ts'

export const sources: Room<'sources'> = {
  list: async (ctx, { limit, cursor }) => {
    const before = afterCursor(cursor)
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listSources(db, { ...ctx, before, limit: most }),
    })
    return { sources: rows.map((row) => presentSource(ctx, row)), next_cursor }
  },

  create: async (ctx, { settings: sent, ...input }) => {
    checkConditions(input.conditions, 'conditions')
    await checkPlainHttp(ctx, sent)
    const { settings, secret } = divide(ctx, { sent, held: undefined })
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      if ((await countSources(tx.db, tx)) >= LIMITS.sourcesPerProjectMax) throw refuse('source_limit_reached')
      const [id, now] = [tx.uuid(), new Date(tx.clock.now())]
      const row = await insertSource(tx.db, {
        ...tx,
        ...input,
        ...disabling(input.enabled, now),
        id,
        kind: settings.kind,
        settings,
        secret: sealSecret(tx, { id, secret }),
        now,
      })
      if (row === undefined) throw refuse('name_taken')
      await audit(tx, {
        action: 'create_source',
        target: encodeId('source', id),
        details: { name: row.name, kind: row.kind, dataset: row.dataset },
        change: { before: null, after: presentSource(tx, row) },
      })
      return { source: presentSource(tx, row) }
    })
  },

  test: async (ctx, { settings: sent, source_id: id }) => {
    const { settings, secret } = divide(ctx, { sent, held: id === undefined ? undefined : await heldBy(ctx, id) })
    const read = await ctx.sampleSource({ settings, secret, itemsMax: LIMITS.sourceSampleRows })
    await inTransaction(ctx, (tx) =>
      audit(tx, {
        action: 'test_source',
        target: id === undefined ? encodeId('project', tx.projectId) : encodeId('source', id),
        details: { kind: settings.kind, ok: read.ok },
      }),
    )
    if (!read.ok)
      return {
        ok: false,
        items: [],
        error: { at: new Date(ctx.clock.now()).toISOString(), reason: read.reason, error: read.error },
      }
    const items = read.items.map((text) => {
      const parsed = parseStoredJson(text)
      return parsed.ok ? parsed.value : text
    })
    return { ok: true, items, error: null }
  },

  get: async (ctx, { id }) => {
    const row = await findSource(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { source: presentSource(ctx, row) }
  },

  update: async (ctx, input) => {
    checkConditions(input.conditions, 'conditions')
    await checkPlainHttp(ctx, input.settings)
    return inTransaction(ctx, async (tx) => {
      const { id, settings: _settings, restart = false, ...change } = input
      const held = await findSource(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const { settings, secret } = changedSettings(tx, held, input)
      const now = new Date(tx.clock.now())
      const row = await updateSource(tx.db, {
        ...tx,
        ...held,
        ...given,
        ...(input.enabled === undefined ? {} : disabling(input.enabled, now)),
        settings,
        secret,
        restarts: restart || startsAgain(held.settings, settings),
        now,
      })
      if (row === undefined) throw refuse('name_taken')
      const changed = [
        ...Object.keys(given),
        ...(input.settings === undefined ? [] : ['settings']),
        ...(restart ? ['restart'] : []),
      ]
      await audit(tx, {
        action: 'update_source',
        target: encodeId('source', id),
        details: { changed },
        change: { before: presentSource(tx, held), after: presentSource(tx, row) },
      })
      return { source: presentSource(tx, row) }
    })
  },

  remove: async (ctx, { id }) => {
    const left_behind = await leftBehind(ctx, id)
    return inTransaction(ctx, async (tx) => {
      const held = await findSource(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      await deleteSource(tx.db, { ...tx, id })
      await audit(tx, {
        action: 'delete_source',
        target: encodeId('source', id),
        ...(left_behind === null ? {} : { details: { left_behind } }),
        change: { before: presentSource(tx, held), after: null },
      })
      return { ok: true, left_behind }
    })
  },
}

/**
 * Drops the objects that Postroad created in the other database. Returns a sentence about those that stay there. The
 * source is stopped first, so that nothing creates them again. A process that dies after that leaves a stopped source,
 * which can be deleted again.
 */
async function leftBehind(ctx: Ctx, id: string): Promise<string | null> {
  const row = await findSource(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  const { settings } = row
  if (settings.kind !== 'postgres_replication') return null
  // oxlint-disable-next-line house/verb-guards -- a part of the deletion, which writes its audit row
  await inTransaction(ctx, (tx) => stopSource(tx.db, { ...tx, id, now: new Date(tx.clock.now()) }))
  const dropped = await ctx.dropReplication({ id, settings, secret: openSecret(ctx, row) })
  return dropped.ok ? null : dropped.error
}

/** It may resolve a name, so it runs outside of the transaction. */
async function checkPlainHttp(ctx: Ctx, settings: SourceSettings | undefined): Promise<void> {
  const why = settings !== undefined && 'url' in settings ? await ctx.validatePlainHttp(settings.url) : undefined
  if (why !== undefined) throw refuse('invalid_request', `settings.url: ${why}`)
}

const disabling = (enabled: boolean, now: Date): Pick<SourceRow, 'enabled' | 'disabled_reason' | 'disabled_at'> =>
  enabled
    ? { enabled, disabled_reason: null, disabled_at: null }
    : { enabled, disabled_reason: 'by_hand', disabled_at: now }

async function heldBy(ctx: Ctx, id: string): Promise<Divided> {
  const row = await findSource(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  return { settings: row.settings, secret: openSecret(ctx, row) }
}

type Change = RouteInput<Routes['sources']['update']>

function changedSettings(tx: Ctx, held: SourceRow, { settings: sent }: Change): Pick<SourceRow, 'settings' | 'secret'> {
  if (sent === undefined) return held
  if (sent.kind !== held.kind)
    throw refuse(
      'invalid_request',
      `settings.kind: this source has the kind ${held.kind}, which cannot change. Create another source.`,
    )
  const { settings, secret } = divide(tx, {
    sent,
    held: { settings: held.settings, secret: openSecret(tx, held) },
  })
  return { settings, secret: sealSecret(tx, { id: held.id, secret }) }
}

/** A position means nothing in another order. */
const startsAgain = (held: StoredSettings, settings: StoredSettings): boolean => orderOf(held) !== orderOf(settings)

function orderOf(settings: StoredSettings): string {
  if (settings.kind === 'sse') return settings.url
  // The slot has the position, and it stays. The next connection detects another installation of PostgreSQL.
  if (settings.kind === 'postgres_replication') return ''
  if (settings.kind === 'http_poll') return JSON.stringify([settings.url, settings.cursor])
  const { cursor_column, key_column, start, place } = settings
  return JSON.stringify([cursor_column, key_column, start, place?.host, place?.port, place?.database])
}
