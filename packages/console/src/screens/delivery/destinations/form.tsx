import { DEFAULT_SCHEDULE_SECONDS, LIMITS } from '@postroad/contract'
import { pathProblem } from '@postroad/contract/dot-path'
import type { ReactElement } from 'react'
import { Choice } from '../../../parts/choice.tsx'
import { Conditions } from '../../../parts/conditions.tsx'
import { DatasetChoice } from '../../../parts/dataset-choice.tsx'
import { placeholdersHint } from '../../../parts/headers-text.ts'
import { Field, Select, TextArea } from '../../../ui/field.tsx'
import { hostIn, type DestinationDraft } from './draft.ts'
import { ScheduleAxis } from './schedule-axis.tsx'
import { readSchedule, scheduleText } from './schedule-text.ts'

export type FormProps = {
  readonly draft: DestinationDraft
  readonly change: (part: Partial<DestinationDraft>) => void
  readonly disabled?: boolean
}

/** The URL and the name; `urlLike` is an example of such a URL. */
export function WhereFields({
  draft,
  change,
  disabled = false,
  urlLike = 'https://example.com/webhooks',
}: FormProps & { readonly urlLike?: string }): ReactElement {
  return (
    <>
      <Field
        label="URL"
        type="url"
        required
        placeholder={urlLike}
        value={draft.url}
        disabled={disabled}
        onChange={({ target }) => change({ url: target.value })}
        className="mono text-data"
        hint={
          draft.config === ''
            ? 'Postroad posts events to this URL. Use https. Plain http works only for addresses that the operator allows.'
            : 'TLS is required unless the operator allows the address. Do not include a username or password.'
        }
      />
      <Field
        label="Name"
        placeholder={hostIn(draft.url) === '' ? 'Receiver' : hostIn(draft.url)}
        maxLength={LIMITS.nameCharsMax}
        value={draft.name}
        disabled={disabled}
        onChange={({ target }) => change({ name: target.value })}
      />
    </>
  )
}

/** The settings of a kind beyond HTTP. */
export function KindFields({ draft, change, disabled = false }: FormProps): ReactElement | null {
  if (draft.config === '') return null
  return (
    <TextArea
      label="Config"
      rows={8}
      value={draft.config}
      disabled={disabled}
      onChange={({ target }) => change({ config: target.value })}
      className="mono text-data"
      hint="JSON. The guide “Destinations beyond HTTP” describes the settings for each kind."
    />
  )
}

/** The events that a destination receives. */
export function WhatFields({ draft, change, disabled = false }: FormProps): ReactElement {
  return (
    <>
      <DatasetChoice
        label="Events to receive"
        datasets={draft.datasets}
        change={(datasets) => change({ datasets })}
        disabled={disabled}
      />
      <Conditions
        label="Conditions"
        conditions={draft.conditions}
        change={(conditions) => change({ conditions })}
        disabled={disabled}
        empty={`Postroad delivers every event${draft.datasets === null ? '' : ' in these datasets'}. Add a condition to deliver only some events.`}
      />
    </>
  )
}

/** The retries and limits of a destination. */
export function RetryFields({ draft, change, disabled = false }: FormProps): ReactElement {
  const read = draft.schedule === null ? { seconds: DEFAULT_SCHEDULE_SECONDS } : readSchedule(draft.schedule)
  return (
    <>
      <Choice
        label="Retry failed deliveries"
        of={[
          { id: 'default', label: 'On the default schedule' },
          { id: 'own', label: 'On a custom schedule' },
        ]}
        at={draft.schedule === null ? 'default' : 'own'}
        go={(id) => change({ schedule: id === 'default' ? null : scheduleText(DEFAULT_SCHEDULE_SECONDS.slice(0, 8)) })}
        disabled={disabled}
      />
      {draft.schedule !== null && (
        <Field
          label="Waits before each attempt"
          value={draft.schedule}
          disabled={disabled}
          onChange={({ target }) => change({ schedule: target.value })}
          className="mono text-data"
          aria-invalid={'problem' in read}
          hint={
            'problem' in read
              ? read.problem
              : 'Separate with commas, such as 0s, 30s, 5m, 1h. The first value is the wait before the first attempt.'
          }
        />
      )}
      {'seconds' in read && <ScheduleAxis waits={read.seconds} />}
      <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
        <Field
          label="Timeout"
          type="number"
          min={LIMITS.deliveryTimeoutMsMin}
          max={LIMITS.deliveryTimeoutMsMax}
          value={draft.timeoutMs}
          disabled={disabled}
          onChange={({ target }) => change({ timeoutMs: target.value })}
          hint={`Maximum time for the whole response in milliseconds, ${LIMITS.deliveryTimeoutMsMin.toLocaleString('en')} to ${LIMITS.deliveryTimeoutMsMax.toLocaleString('en')}.`}
        />
        <Field
          label="Maximum in progress"
          type="number"
          min={LIMITS.maxInFlightMin}
          max={LIMITS.maxInFlightMax}
          value={draft.maxInFlight}
          disabled={disabled}
          onChange={({ target }) => change({ maxInFlight: target.value })}
          hint={`Maximum concurrent deliveries, ${LIMITS.maxInFlightMin} to ${LIMITS.maxInFlightMax.toLocaleString('en')}. Your plan can allow fewer.`}
        />
        <Field
          label="Rate limit"
          type="number"
          min={1}
          placeholder="no limit"
          value={draft.rateCount}
          disabled={disabled}
          onChange={({ target }) => change({ rateCount: target.value })}
          hint="Optional. The maximum number of deliveries that start in each period. Further deliveries wait."
        />
        <Select
          label="Per"
          value={draft.ratePer}
          disabled={disabled || draft.rateCount === ''}
          onChange={({ target }) =>
            change({ ratePer: target.value === 'hour' ? 'hour' : target.value === 'minute' ? 'minute' : 'second' })
          }
        >
          <option value="second">second</option>
          <option value="minute">minute</option>
          <option value="hour">hour</option>
        </Select>
        {draft.config === '' && <BatchFields draft={draft} change={change} disabled={disabled} />}
      </div>
    </>
  )
}

/** How many events a request of the kind http has. */
function BatchFields({ draft, change, disabled = false }: FormProps): ReactElement {
  return (
    <>
      <Field
        label="Events per request"
        type="number"
        min={LIMITS.requestEventsMin}
        max={LIMITS.requestEventsMax}
        placeholder="one"
        value={draft.batchMax}
        disabled={disabled}
        onChange={({ target }) => change({ batchMax: target.value })}
        hint="Optional. A request then has a JSON array with up to this many events, and its response is the outcome of all of them. At most the maximum in progress."
      />
      <Field
        label="Wait for others"
        type="number"
        min={LIMITS.batchLingerMsMin}
        max={LIMITS.requestLingerMsMax}
        value={draft.batchLingerMs}
        disabled={disabled || draft.batchMax === ''}
        onChange={({ target }) => change({ batchLingerMs: target.value })}
        hint={`The longest wait of an event for a full request, in milliseconds, up to ${LIMITS.requestLingerMsMax.toLocaleString('en')}.`}
      />
    </>
  )
}

/** Whether events wait for each other. */
export function OrderFields({ draft: { orderPath }, change, disabled = false }: FormProps): ReactElement {
  const problem = orderPath === null ? undefined : pathProblem(orderPath.trim())
  return (
    <>
      <Choice
        label="Delivery order"
        of={[
          { id: 'none', label: 'In parallel' },
          { id: 'key', label: 'In order by key' },
        ]}
        at={orderPath === null ? 'none' : 'key'}
        go={(id) => change({ orderPath: id === 'none' ? null : '' })}
        disabled={disabled}
        hint={
          orderPath === null
            ? 'The fastest option. Events do not wait for each other. A retry can arrive after later events.'
            : 'Postroad sends events with the same key one at a time, in order of arrival. This option is slower. A failing event blocks later events with the same key until it is delivered or has failed permanently. Events with other keys continue.'
        }
      />
      {orderPath !== null && (
        <Field
          label="Key path"
          required
          placeholder="customer.id"
          maxLength={LIMITS.conditionPathCharsMax}
          value={orderPath}
          disabled={disabled}
          onChange={({ target }) => change({ orderPath: target.value })}
          className="mono text-data"
          aria-invalid={problem !== undefined}
          hint={
            problem ??
            'The path to the key in the event. Events without the key do not wait. A change applies to later events.'
          }
        />
      )}
    </>
  )
}

/** The headers of every delivery. */
export function HeaderFields({ draft, change, disabled = false }: FormProps): ReactElement {
  return (
    <>
      <TextArea
        label="Headers"
        rows={3}
        placeholder="X-Team: billing"
        value={draft.headers}
        disabled={disabled}
        onChange={({ target }) => change({ headers: target.value })}
        hint={`One per line, sent with every delivery. Postroad never shows saved values.${placeholdersHint(draft.headers)} If you change the URL host, enter the values again.`}
      />
      <Choice
        label="Signature headers"
        of={[
          { id: 'both', label: 'Both' },
          { id: 'standard', label: 'Standard Webhooks' },
          { id: 'service', label: 'Service-Signature' },
        ]}
        at={draft.signing}
        go={(signing) => change({ signing })}
        disabled={disabled}
        hint="Standard Webhooks: webhook-id, webhook-timestamp and webhook-signature. The svix and standardwebhooks libraries verify these headers."
      />
      <Choice
        label="Signature scheme"
        of={[
          { id: 'hmac', label: 'HMAC' },
          { id: 'both', label: 'HMAC and ed25519' },
          { id: 'ed25519', label: 'ed25519' },
        ]}
        at={draft.scheme}
        go={(scheme) => change({ scheme })}
        disabled={disabled}
        hint="HMAC: the receiver has the secret. ed25519: the receiver has only a public key, and Postroad sends the Standard Webhooks headers alone. Both: for a migration."
      />
    </>
  )
}
