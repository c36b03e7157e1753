import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { checkConditions } from '../../check-conditions.ts'
import { afterCursor, readPage } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { lockProject } from '../../workspace/projects/index.ts'
import { changedHeaders, shownHeaders } from '../held-headers.ts'
import {
  countWsTriggers,
  deleteWsTrigger,
  findWsTrigger,
  insertWsTrigger,
  listWsTriggers,
  updateWsTrigger,
  type WsTriggerRow,
} from './queries.ts'
import { changedWsSecret, openWsSecret, sealWsSecret } from './secret.ts'

export { openWsSecret } from './secret.ts'

export const wsTriggers: Room<'wsTriggers'> = {
  list: async (ctx, { limit, cursor }) => {
    const before = afterCursor(cursor)
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listWsTriggers(db, { ...ctx, before, limit: most }),
    })
    return { ws_triggers: rows.map((row) => present(ctx, row)), next_cursor }
  },

  create: async (ctx, { headers: sent, subscribe, ...input }) => {
    checkConditions(input.conditions, 'conditions')
    await checkUrl(ctx, input.url)
    const headers = changedHeaders(sent, {})
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      if ((await countWsTriggers(tx.db, tx)) >= LIMITS.wsTriggersPerProjectMax) throw refuse('source_limit_reached')
      const id = tx.uuid()
      const row = await insertWsTrigger(tx.db, {
        ...tx,
        ...input,
        id,
        secret: sealWsSecret(tx, { id, secret: { headers, subscribe } }),
        now: new Date(tx.clock.now()),
      })
      if (row === undefined) throw refuse('name_taken')
      const { name, dataset } = row
      await audit(tx, {
        action: 'create_ws_trigger',
        target: encodeId('wsTrigger', id),
        details: { name, dataset },
        change: { before: null, after: settingsOf(present(tx, row)) },
      })
      return { ws_trigger: present(tx, row) }
    })
  },

  get: async (ctx, { id }) => {
    const row = await findWsTrigger(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { ws_trigger: present(ctx, row) }
  },

  update: async (ctx, { id, headers, subscribe, ...change }) => {
    checkConditions(change.conditions, 'conditions')
    if (change.url !== undefined) await checkUrl(ctx, change.url)
    return inTransaction(ctx, async (tx) => {
      const held = await findWsTrigger(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const secret = changedWsSecret(
        { url: change.url, headers, subscribe },
        { url: held.url, secret: openWsSecret(tx, held) },
      )
      const row = await updateWsTrigger(tx.db, {
        ...tx,
        ...held,
        ...given,
        secret: sealWsSecret(tx, { id, secret }),
        now: new Date(tx.clock.now()),
      })
      if (row === undefined) throw refuse('name_taken')
      const changed = [
        ...Object.keys(given),
        ...(headers === undefined ? [] : ['headers']),
        ...(subscribe === undefined ? [] : ['subscribe']),
      ]
      await audit(tx, {
        action: 'update_ws_trigger',
        target: encodeId('wsTrigger', id),
        details: { changed },
        change: { before: settingsOf(present(tx, held)), after: settingsOf(present(tx, row)) },
      })
      return { ws_trigger: present(tx, row) }
    })
  },

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findWsTrigger(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      await deleteWsTrigger(tx.db, { ...tx, id })
      await audit(tx, {
        action: 'delete_ws_trigger',
        target: encodeId('wsTrigger', id),
        change: { before: settingsOf(present(tx, held)), after: null },
      })
      return { ok: true }
    }),
}

/** A WebSocket starts as an HTTP request, so the same rules apply to its address. The check may resolve a name. */
async function checkUrl(ctx: Ctx, url: string): Promise<void> {
  const { protocol } = URL.parse(url) ?? { protocol: '' }
  if (protocol !== 'wss:' && protocol !== 'ws:')
    throw refuse('invalid_request', 'url must start with wss://, such as wss://stream.example.com/v1.')
  const asHttp = url.trim().replace(/^ws/i, 'http')
  const why = ctx.validateUrl(asHttp) ?? (await ctx.validatePlainHttp(asHttp))
  if (why !== undefined) throw refuse('invalid_request', `url: ${why}`)
}

function present(ctx: Pick<Ctx, 'clock' | 'cipher'>, row: WsTriggerRow) {
  const { headers, subscribe } = openWsSecret(ctx, row)
  const state = stateOf(row, ctx.clock.now())
  return {
    id: encodeId('wsTrigger', row.id),
    name: row.name,
    url: row.url,
    dataset: row.dataset,
    conditions: row.conditions,
    customer: row.customer,
    headers: shownHeaders(headers),
    subscribe_messages: subscribe.length,
    heartbeat: row.heartbeat,
    stale_seconds: row.stale_seconds,
    max_payload_bytes: row.max_payload_bytes,
    enabled: row.enabled,
    state,
    connected_at: state === 'connected' ? (row.connected_at?.toISOString() ?? null) : null,
    next_connect_at: state === 'waiting' ? row.connect_at.toISOString() : null,
    last_message_at: row.last_message_at?.toISOString() ?? null,
    received: row.received,
    filed: row.filed,
    dropped: row.dropped,
    failures: row.failures,
    last_error: row.last_error,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** The part that a person sets, for the audit log, without the state of the connection. */
const settingsOf = ({
  name,
  url,
  dataset,
  conditions,
  headers,
  subscribe_messages,
  heartbeat,
  stale_seconds,
  max_payload_bytes,
  enabled,
}: ReturnType<typeof present>): object => ({
  name,
  url,
  dataset,
  conditions,
  headers,
  subscribe_messages,
  heartbeat,
  stale_seconds,
  max_payload_bytes,
  enabled,
})

function stateOf(row: WsTriggerRow, now: number): 'disabled' | 'waiting' | 'connecting' | 'connected' {
  if (!row.enabled) return 'disabled'
  if (row.lease_until === null || row.lease_until.getTime() <= now) return 'waiting'
  return row.connected_at === null ? 'connecting' : 'connected'
}
