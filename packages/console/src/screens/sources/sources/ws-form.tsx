import { LIMITS, type RouteRequest, type Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { WsTrigger } from '../../../data/source-lists.ts'
import { draftOf, sentOf, type ConditionDraft } from '../../../parts/condition-draft.ts'
import { headersIn, headersText, placeholdersHint, withoutValues } from '../../../parts/headers-text.ts'
import { Check, Field, TextArea } from '../../../ui/field.tsx'
import { customerAt } from './draft.ts'
import { NameFields } from './source-fields.tsx'

export type WsBody = RouteRequest<Routes['wsTriggers']['create']>

export type WsDraft = {
  readonly name: string
  readonly url: string
  readonly dataset: string
  readonly conditions: readonly ConditionDraft[]
  readonly customer: string
  readonly headers: string
  /** null: the stored texts stay. */
  readonly subscribe: string | null
  readonly hasHeartbeat: boolean
  readonly everySeconds: string
  readonly heartbeat: string
  readonly staleSeconds: string
  readonly maxPayload: string
}

export const NEW_WS: WsDraft = {
  name: '',
  url: '',
  dataset: '',
  conditions: [],
  customer: '',
  headers: '',
  subscribe: '',
  hasHeartbeat: true,
  everySeconds: '30',
  heartbeat: '',
  staleSeconds: String(LIMITS.wsStaleSecondsDefault),
  maxPayload: String(LIMITS.wsPayloadBytesDefault),
}

export function draftOfWs(of: WsTrigger): WsDraft {
  return {
    name: of.name,
    url: of.url,
    dataset: of.dataset,
    conditions: of.conditions.map(draftOf),
    customer: of.customer?.path ?? '',
    headers: headersText(of.headers),
    subscribe: of.subscribe_messages === 0 ? '' : null,
    hasHeartbeat: of.heartbeat !== null,
    everySeconds: String(of.heartbeat?.every_seconds ?? 30),
    heartbeat: of.heartbeat?.message ?? '',
    staleSeconds: String(of.stale_seconds),
    maxPayload: String(of.max_payload_bytes),
  }
}

export function wsBodyOf(draft: WsDraft): { readonly body: WsBody } | { readonly problem: string } {
  const headers = headersIn(draft.headers)
  if (typeof headers === 'string') return { problem: headers }
  if (draft.name.trim() === '') return { problem: 'Enter a name.' }
  if (draft.dataset.trim() === '') return { problem: 'Enter the dataset that stores the events.' }
  return {
    body: {
      name: draft.name.trim(),
      url: draft.url.trim(),
      dataset: draft.dataset.trim(),
      conditions: draft.conditions.map(sentOf),
      customer: customerAt(draft.customer),
      headers,
      ...(draft.subscribe === null
        ? {}
        : { subscribe: draft.subscribe.split('\n').filter((line) => line.trim() !== '') }),
      heartbeat: draft.hasHeartbeat
        ? {
            every_seconds: Number(draft.everySeconds),
            message: draft.heartbeat === '' ? null : draft.heartbeat,
          }
        : null,
      stale_seconds: Number(draft.staleSeconds),
      max_payload_bytes: Number(draft.maxPayload),
    },
  }
}

/** The body for a command: without the values of headers, and without texts that can contain a token. */
export function secretlessWs(body: WsBody): WsBody {
  return {
    ...body,
    headers: withoutValues(body.headers ?? {}),
    ...(body.subscribe === undefined ? {} : { subscribe: body.subscribe.map(() => 'YOUR_TEXT') }),
  }
}

type FieldsProps = {
  readonly draft: WsDraft
  readonly change: (part: Partial<WsDraft>) => void
  readonly disabled?: boolean
}

export function WsFields({ draft, change, disabled = false }: FieldsProps): ReactElement {
  return (
    <>
      <Field
        label="URL"
        required
        placeholder="wss://stream.example.com"
        value={draft.url}
        disabled={disabled}
        onChange={({ target }) => change({ url: target.value })}
        className="mono text-data"
        hint="Use wss. Plain ws works only for addresses that the operator allows."
      />
      <NameFields draft={draft} change={change} disabled={disabled} example="Prices" item="message" />
      <TextArea
        label="Headers"
        rows={2}
        placeholder="Authorization: Bearer …"
        value={draft.headers}
        disabled={disabled}
        onChange={({ target }) => change({ headers: target.value })}
        hint={`One per line. Postroad never shows saved values.${placeholdersHint(draft.headers)}`}
      />
      <TextArea
        label="Messages to send after each connection"
        rows={2}
        placeholder={draft.subscribe === null ? 'stored; text here replaces all messages' : '{"subscribe":"orders"}'}
        value={draft.subscribe ?? ''}
        disabled={disabled}
        onChange={({ target }) => change({ subscribe: target.value })}
        hint="Optional. One per line, in order. Postroad encrypts the messages and never shows them again."
      />
      <LimitFields draft={draft} change={change} disabled={disabled} />
    </>
  )
}

/** The message at intervals, and the limits of the connection. */
function LimitFields({ draft, change, disabled = false }: FieldsProps): ReactElement {
  return (
    <>
      <div className="mb-3.5">
        <Check
          label="Send a heartbeat to keep the connection open"
          checked={draft.hasHeartbeat}
          disabled={disabled}
          onChange={({ target }) => change({ hasHeartbeat: target.checked })}
        />
      </div>
      <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
        {draft.hasHeartbeat && (
          <>
            <Field
              label="Heartbeat interval, seconds"
              type="number"
              min={LIMITS.wsHeartbeatSecondsMin}
              max={LIMITS.wsHeartbeatSecondsMax}
              value={draft.everySeconds}
              disabled={disabled}
              onChange={({ target }) => change({ everySeconds: target.value })}
            />
            <Field
              label="Message"
              placeholder="a protocol ping"
              value={draft.heartbeat}
              disabled={disabled}
              onChange={({ target }) => change({ heartbeat: target.value })}
              className="mono text-data"
            />
          </>
        )}
        <Field
          label="Reconnect after silence, seconds"
          type="number"
          min={LIMITS.wsStaleSecondsMin}
          max={LIMITS.wsStaleSecondsMax}
          value={draft.staleSeconds}
          disabled={disabled}
          onChange={({ target }) => change({ staleSeconds: target.value })}
        />
        <Field
          label="Largest message, bytes"
          type="number"
          min={1}
          max={LIMITS.wsPayloadBytesMax}
          value={draft.maxPayload}
          disabled={disabled}
          onChange={({ target }) => change({ maxPayload: target.value })}
          hint="A larger message closes the connection."
        />
      </div>
    </>
  )
}
