import { encodeId, LIMITS, type RouteInput, type Routes, type SourceSettings } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { checkConditions } from '../../check-conditions.ts'
import { afterCursor, pageOf } from '../../page.ts'
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
import { divide, openSecret, sealSecret, type Divided } from './secret.ts'

export { listFailingSources } from './queries.ts'
export { notifySwitchedOff } from './notify-switched-off.ts'
export { openSecret as openSourceSecret } from './secret.ts'

export const sources: Room<'sources'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listSources(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
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
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON of any shape
    return { ok: true, items: read.items.map((text) => JSON.parse(text) as unknown), error: null }
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
      const { id, settings: _settings, ...change } = input
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
        restarts: startsAgain(held.settings, settings),
        now,
      })
      if (row === undefined) throw refuse('name_taken')
      const changed = [...Object.keys(given), ...(input.settings === undefined ? [] : ['settings'])]
      await audit(tx, { action: 'update_source', target: encodeId('source', id), details: { changed } })
      return { source: presentSource(tx, row) }
    })
  },

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      if ((await deleteSource(tx.db, { ...tx, id })) === 0) throw refuse('not_found')
      await audit(tx, { action: 'delete_source', target: encodeId('source', id) })
      return { ok: true }
    }),
}

/** It may look a name up, so it runs outside of the transaction. */
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
  if (settings.kind === 'http_poll') return JSON.stringify([settings.url, settings.cursor])
  const { cursor_column, key_column, start, place } = settings
  return JSON.stringify([cursor_column, key_column, start, place?.host, place?.port, place?.database])
}
