import {
  FORWARDED_CONTENT,
  FORWARDED_SIGNALS,
  type ForwarderPreset,
  type RouteRequest,
  type Routes,
} from '@postroad/contract'
import type { Light } from '@postroad/contract/lights'
import type { Forwarder } from '../../../data/serving-lists.ts'
import { headersIn, headersText } from '../../../parts/headers-text.ts'
import { listIn } from '../../../parts/text-list.ts'

export type ForwarderBody = RouteRequest<Routes['forwarders']['create']>
type Signal = Forwarder['signals'][number]
type Content = Forwarder['content'][number]

export type ForwarderDraft = {
  readonly preset: Forwarder['preset']
  readonly name: string
  readonly endpoint: string
  readonly headers: string
  readonly encoding: Forwarder['encoding']
  readonly gzip: boolean
  readonly signals: readonly Signal[]
  readonly content: readonly Content[]
  /** In percent. */
  readonly percent: string
  readonly alwaysErrors: boolean
  readonly payloads: boolean
  readonly redactHeaders: string
  readonly redactFields: string
}

export const SIGNALS: readonly Signal[] = FORWARDED_SIGNALS
export const CONTENT: readonly Content[] = FORWARDED_CONTENT
export const CONTENT_TEXTS: Readonly<Record<Content, string>> = {
  submissions: 'Accepted requests',
  rejections: 'Rejected requests, counted per minute',
  attempts: 'Delivery attempts',
  workflow_instances: 'Completed workflow runs',
  ai_runs: 'Completed AI runs',
  audit: 'Workspace audit log (requires the admin role)',
}

/** The form of a preset: braces name the parts that a person fills in. */
export function newDraft(preset: ForwarderPreset): ForwarderDraft {
  return {
    preset: preset.id,
    name: preset.id === 'generic' ? '' : preset.name,
    endpoint: preset.endpoint,
    headers: preset.headers
      .filter(({ required }) => required)
      .map(({ name, form }) => `${name}: ${form}`)
      .join('\n'),
    encoding: preset.encodings.includes('protobuf') ? 'protobuf' : 'json',
    gzip: true,
    signals: SIGNALS,
    content: CONTENT.filter((kind) => kind !== 'audit'),
    percent: '100',
    alwaysErrors: true,
    payloads: false,
    redactHeaders: '',
    redactFields: '',
  }
}

export function draftOfForwarder(of: Forwarder): ForwarderDraft {
  return {
    preset: of.preset,
    name: of.name,
    endpoint: of.endpoint,
    headers: headersText(of.headers),
    encoding: of.encoding,
    gzip: of.gzip,
    signals: of.signals,
    content: of.content,
    percent: String(Number((of.sample_rate * 100).toFixed(6))),
    alwaysErrors: of.always_errors,
    payloads: of.payloads,
    redactHeaders: of.redact_headers.join(', '),
    redactFields: of.redact_fields.join(', '),
  }
}

export function forwarderBodyOf(
  draft: ForwarderDraft,
): { readonly body: ForwarderBody } | { readonly problem: string } {
  const request = requestOf(draft)
  if ('problem' in request) return request
  if (draft.name.trim() === '') return { problem: 'Enter a name.' }
  if (draft.percent.trim() === '') return { problem: 'Enter the sampling percent.' }
  if (draft.content.length === 0) return { problem: 'Choose at least one content type.' }
  return {
    body: {
      name: draft.name.trim(),
      ...request.body,
      content: [...draft.content],
      sample_rate: Number(draft.percent) / 100,
      always_errors: draft.alwaysErrors,
      payloads: draft.payloads,
      redact_headers: listIn(draft.redactHeaders),
      redact_fields: listIn(draft.redactFields),
    },
  }
}

type RequestBody = Pick<ForwarderBody, 'preset' | 'endpoint' | 'headers' | 'encoding' | 'gzip' | 'signals'>

/** The part that a test sends. */
export function requestOf(draft: ForwarderDraft): { readonly body: RequestBody } | { readonly problem: string } {
  const headers = headersIn(draft.headers)
  if (typeof headers === 'string') return { problem: headers }
  const open = [draft.endpoint, ...Object.values(headers).map((value) => value ?? '')].find((text) =>
    /\{[^}]*\}/.test(text),
  )
  if (open !== undefined) return { problem: `Replace the part in braces: ${/\{[^}]*\}/.exec(open)?.[0] ?? open}.` }
  if (draft.signals.length === 0) return { problem: 'Choose logs, traces or both.' }
  return {
    body: {
      preset: draft.preset,
      endpoint: draft.endpoint.trim(),
      headers,
      encoding: draft.encoding,
      gzip: draft.gzip,
      signals: [...draft.signals],
    },
  }
}

export function forwarderLight({ state, stopped_reason, progress }: Forwarder): Light {
  if (state === 'stopped')
    return stopped_reason === 'workspace_suspended'
      ? {
          tone: 'paused',
          word: 'stopped',
          text: 'The workspace is suspended or closed. The forwarder continues when the workspace is active again.',
        }
      : { tone: 'paused', word: 'off', text: 'Turned off by a member. The forwarder retains its position.' }
  const fault = [progress.logs, progress.traces].find((signal) => signal?.state === 'failing')
  return state === 'failing'
    ? { tone: 'fail', word: 'failing', text: fault?.last_error?.error ?? 'The last attempt failed. Postroad retries.' }
    : { tone: 'ok', word: 'on', text: 'The receiver accepts the data.' }
}
