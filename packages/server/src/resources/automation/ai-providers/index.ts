import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { lockProject } from '../../workspace/projects/index.ts'
import {
  countProviders,
  deleteProvider,
  findProvider,
  insertProvider,
  listProviders,
  updateProvider,
  type AiProviderRow,
} from './queries.ts'

export { findProvider, type AiProviderRow } from './queries.ts'

const BASE_URLS = { openai: 'https://api.openai.com/v1', anthropic: 'https://api.anthropic.com/v1' } as const

const present = ({ api_key, ...row }: AiProviderRow) => ({
  ...row,
  id: encodeId('aiProvider', row.id),
  has_api_key: api_key !== null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

export const aiProviders: Room<'aiProviders'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listProviders(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { ai_providers: rows.map(present), next_cursor }
  },

  create: (ctx, { api_key: key, ...input }) => {
    const base_url = input.base_url ?? (input.kind === 'openai_compatible' ? undefined : BASE_URLS[input.kind])
    if (base_url === undefined)
      throw refuse('invalid_request', 'base_url is missing. Send the address of the server, including /v1.')
    checkAddress(ctx, base_url)
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      if ((await countProviders(tx.db, tx)) >= LIMITS.aiProvidersPerProjectMax) throw refuse('automation_limit_reached')
      const id = tx.uuid()
      const row = await insertProvider(tx.db, {
        ...tx,
        ...input,
        id,
        base_url: withoutSlash(base_url),
        api_key: sealed(tx, { id, key }),
        structured_outputs: input.structured_outputs ?? input.kind !== 'openai_compatible',
        now: new Date(tx.clock.now()),
      })
      if (row === undefined) throw refuse('name_taken')
      await audit(tx, {
        action: 'create_ai_provider',
        target: encodeId('aiProvider', id),
        details: { name: row.name, kind: row.kind },
        change: { before: null, after: present(row) },
      })
      return { ai_provider: present(row) }
    })
  },

  get: async (ctx, { id }) => ({ ai_provider: present(await providerOf(ctx, id)) }),

  update: (ctx, { id, api_key: key, ...change }) => {
    if (change.base_url !== undefined) checkAddress(ctx, change.base_url)
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      const held = await providerOf(tx, id)
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const base_url = withoutSlash(change.base_url ?? held.base_url)
      if (base_url !== held.base_url && held.api_key !== null && key === undefined)
        throw refuse(
          'invalid_request',
          'api_key: send it again when you change base_url. Postroad sends the stored key only to the address that it was set for.',
        )
      const row = await updateProvider(tx.db, {
        ...tx,
        ...held,
        ...given,
        base_url,
        api_key: key === undefined ? held.api_key : sealed(tx, { id, key }),
        now: new Date(tx.clock.now()),
      })
      if (row === undefined) throw refuse('name_taken')
      const changed = [...Object.keys(given), ...(key === undefined ? [] : ['api_key'])]
      await audit(tx, {
        action: 'update_ai_provider',
        target: encodeId('aiProvider', id),
        details: { changed },
        change: { before: present(held), after: present(row) },
      })
      return { ai_provider: present(row) }
    })
  },

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      const before = present(await providerOf(tx, id))
      if ((await deleteProvider(tx.db, { ...tx, id })) === 0) throw refuse('ai_provider_in_use')
      await audit(tx, {
        action: 'delete_ai_provider',
        target: encodeId('aiProvider', id),
        change: { before, after: null },
      })
      return { ok: true }
    }),

  test: async (ctx, { id }) => {
    await providerOf(ctx, id)
    const { workspaceId, projectId } = ctx
    const { durationMs, ...tested } = await ctx.testModel({ workspaceId, projectId, providerId: id })
    await inTransaction(ctx, (tx) =>
      audit(tx, { action: 'test_ai_provider', target: encodeId('aiProvider', id), details: { ok: tested.ok } }),
    )
    return { ...tested, duration_ms: durationMs }
  },
}

async function providerOf(ctx: Ctx, id: string): Promise<AiProviderRow> {
  const row = await findProvider(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  return row
}

function checkAddress(ctx: Ctx, url: string): void {
  const why = ctx.validateUrl(url)
  if (why !== undefined) throw refuse('invalid_request', `base_url: ${why}`)
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

function sealed(ctx: Ctx, { id, key }: { id: string; key: string | null | undefined }): Buffer | null {
  return key === undefined || key === null ? null : ctx.cipher.seal(key, secretPlace('ai_providers.api_key', id))
}
