import { FORWARDER_PRESETS, type CustomHeaders, type ForwardedContent, type ForwarderPreset } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { roleRefusal, scopeRefusal } from '../../../domain/people/access.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { bringsEveryValue, changedHeaders, type HeldHeaders } from '../../sources/held-headers.ts'
import type { ForwarderRow } from './queries.ts'

const COLUMN = 'forwarders.headers'

export function sealHeaders(ctx: Ctx, { id, headers }: { id: string; headers: HeldHeaders }): Buffer | null {
  if (Object.keys(headers).length === 0) return null
  return ctx.cipher.seal(JSON.stringify(headers), secretPlace(COLUMN, id))
}

export function openForwarderHeaders(
  ctx: Pick<Ctx, 'cipher'>,
  { id, headers }: Pick<ForwarderRow, 'id' | 'headers'>,
): HeldHeaders {
  if (headers === null) return {}
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by sealHeaders, and opens only as it was sealed
  return JSON.parse(ctx.cipher.open(headers, secretPlace(COLUMN, id)).reveal()) as HeldHeaders
}

/** The destination of requests, and the headers that prove their sender. */
export type Target = {
  readonly preset: ForwarderPreset['id']
  readonly endpoint: string
  readonly headers: HeldHeaders
  readonly encoding: 'json' | 'protobuf'
}

type Sent = {
  readonly preset?: Target['preset'] | undefined
  readonly endpoint?: string | undefined
  readonly headers?: CustomHeaders | undefined
  readonly encoding?: Target['encoding'] | undefined
}

/** The target after a change. Stored values of headers go only to the origin that they were set for. */
export function changedTarget(ctx: Ctx, { sent, held }: { sent: Sent; held: Target | undefined }): Target {
  const endpoint = sent.endpoint === undefined ? held?.endpoint : checkedEndpoint(ctx, sent.endpoint)
  if (endpoint === undefined) throw refuse('invalid_request', 'endpoint is missing. Send the URL of the receiver.')
  const before = held ?? { preset: 'generic', endpoint, headers: {}, encoding: 'protobuf' }
  checkMove(sent, { endpoint, before })
  const target = {
    preset: sent.preset ?? before.preset,
    endpoint,
    headers: sent.headers === undefined ? before.headers : changedHeaders(sent.headers, before.headers),
    encoding: sent.encoding ?? before.encoding,
  }
  checkPreset(target)
  return target
}

function checkMove(sent: Sent, { endpoint, before }: { endpoint: string; before: Target }): void {
  if (isSameOrigin(before.endpoint, endpoint) || bringsEveryValue(sent.headers, before.headers)) return
  throw refuse(
    'invalid_request',
    'headers: send the values again, because the origin of the endpoint changes and the stored values were set for the current origin.',
  )
}

function checkedEndpoint(ctx: Ctx, text: string): string {
  const why = ctx.validateUrl(text)
  if (why !== undefined) throw refuse('invalid_request', `endpoint: ${why}`)
  const url = new URL(text)
  if (url.search !== '' || url.hash !== '')
    throw refuse('invalid_request', 'endpoint: leave out the query and the fragment. Put keys in headers.')
  const path = url.pathname.replace(/\/+$/, '')
  if (/\/v1\/(?:logs|traces|metrics)$/.test(path))
    throw refuse('invalid_request', 'endpoint: leave out /v1/logs and /v1/traces. Postroad appends them.')
  return url.origin + path
}

const isSameOrigin = (a: string, b: string): boolean => URL.parse(a)?.origin === URL.parse(b)?.origin

function checkPreset({ preset: id, headers, encoding }: Target): void {
  const preset = FORWARDER_PRESETS.find((one) => one.id === id)
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const missing = preset?.headers.find(({ name, required }) => required && !given.has(name.toLowerCase()))
  if (missing !== undefined)
    throw refuse(
      'invalid_request',
      `headers: ${preset?.name} requires ${missing.name}, in the form "${missing.form}". Add it, or use the preset generic.`,
    )
  if (preset?.encodings.includes(encoding) === false)
    throw refuse(
      'invalid_request',
      `encoding: ${preset.name} accepts ${preset.encodings.join(' and ')} only. Change the encoding.`,
    )
}

/** The audit log belongs to the whole workspace, so only a caller who may read it may send it away. */
export function checkAudit(ctx: Ctx, content: readonly ForwardedContent[]): void {
  if (!content.includes('audit')) return
  const refusal = roleRefusal(ctx.actor, { role: 'admin' }) ?? scopeRefusal(ctx.actor, { scope: 'service:manage' })
  if (refusal !== undefined) throw refusal
  if (ctx.actor.kind === 'api_key' && ctx.actor.projectId !== null)
    throw refuse('project_out_of_scope', 'This key is for one project, and the audit log belongs to the workspace.')
}
