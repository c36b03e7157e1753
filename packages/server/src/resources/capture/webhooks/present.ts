import { encodeId, type RouteInput, type Routes, type WebhookConfig } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { secretPlace } from '../../secret-place.ts'
import { presentHandshake } from './handshake.ts'
import type { WebhookRow } from './queries.ts'

export type UrlParts = { readonly workspaceSlug: string; readonly projectSlug: string }

/** The settings that a change may set. */
export type Settings = Omit<RouteInput<Routes['webhooks']['update']>, 'id'>

/** The settings of an endpoint in the form of its versions. A setting that a change may set and that is missing here does not compile. */
export function configOf(row: WebhookRow): WebhookConfig {
  return {
    name: row.name,
    slug: row.slug,
    dataset: row.dataset,
    enabled: row.enabled,
    criteria: row.criteria,
    mappings: row.mappings,
    verification: row.verification,
    ip_allowlist: [...row.ip_allowlist],
    cors: row.cors_origins === null ? null : { origins: [...row.cors_origins] },
    handshake: presentHandshake(row),
    response: row.response,
    body_as: row.body_as,
    split: row.split,
    idempotency: row.idempotency,
    customer: row.customer,
    event_title: row.event_title,
    refused_samples: row.refused_samples,
  } satisfies { readonly [Member in keyof Settings]-?: unknown }
}

/** Row → public shape. This is the only place that leaves the secrets out. */
export function presentWebhook(ctx: Ctx, row: WebhookRow, { workspaceSlug, projectSlug }: UrlParts) {
  const pathOf = (slug: string): string => `/${workspaceSlug}/${projectSlug}/${slug}`
  const slug = ctx.cipher.open(row.url_slug, secretPlace('webhooks.url_slug', row.id)).reveal()
  const previousLives = row.previous_url_expires_at !== null && row.previous_url_expires_at.getTime() > ctx.clock.now()
  const previous =
    previousLives && row.previous_url_slug !== null
      ? ctx.cipher.open(row.previous_url_slug, secretPlace('webhooks.previous_url_slug', row.id)).reveal()
      : null
  return {
    id: encodeId('webhook', row.id),
    ...configOf(row),
    verification: presentVerification(row, ctx.clock.now()),
    webhook_slug: slug,
    public_path: pathOf(slug),
    public_url: ctx.baseUrl() + pathOf(slug),
    previous_public_url: previous === null ? null : ctx.baseUrl() + pathOf(previous),
    previous_url_expires_at: previous === null ? null : (row.previous_url_expires_at?.toISOString() ?? null),
    version: row.version,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

function presentVerification({ verification, secret, previous_secret_expires_at: end }: WebhookRow, now: number) {
  if (verification.scheme === 'none') return { scheme: 'none' as const }
  return {
    ...verification,
    has_secret: secret !== null,
    previous_secret_expires_at: end !== null && end.getTime() > now ? end.toISOString() : null,
  }
}
