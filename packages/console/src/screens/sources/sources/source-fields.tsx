import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { ConditionDraft } from '../../../parts/condition-draft.ts'
import { Conditions } from '../../../parts/conditions.tsx'
import { DatasetField } from '../../../parts/dataset-field.tsx'
import { placeholdersHint } from '../../../parts/headers-text.ts'
import { Check, Field, Select, TextArea } from '../../../ui/field.tsx'
import { ConnectionField, EncryptionFields, type FieldsProps } from './connection-fields.tsx'
import { ReplicationFields } from './replication-fields.tsx'

type Filing = {
  readonly name: string
  readonly dataset: string
  readonly conditions: readonly ConditionDraft[]
  readonly customer: string
}

/** The name of a source or a WebSocket, and how its items become events. */
export function NameFields({
  draft,
  change,
  disabled = false,
  example = 'Orders of the shop',
  item = 'item',
}: {
  readonly draft: Filing
  readonly change: (part: Partial<Filing>) => void
  readonly disabled?: boolean
  /** A name, as the placeholder. */
  readonly example?: string
  /** The word for what it reads. */
  readonly item?: string
}): ReactElement {
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder={example}
        value={draft.name}
        disabled={disabled}
        onChange={({ target }) => change({ name: target.value })}
      />
      <DatasetField
        label="Store events in"
        required
        value={draft.dataset}
        disabled={disabled}
        change={(dataset) => change({ dataset })}
      />
      <Conditions
        label="Conditions"
        conditions={draft.conditions}
        disabled={disabled}
        change={(conditions) => change({ conditions })}
        empty={`Every ${item} becomes an event. Add a condition to store only some ${item}s.`}
      />
      <CustomerField value={draft.customer} disabled={disabled} change={(customer) => change({ customer })} />
    </>
  )
}

/** Where an event names the customer of a portal. */
export function CustomerField({
  value,
  disabled,
  change,
}: {
  readonly value: string
  readonly disabled: boolean
  readonly change: (path: string) => void
}): ReactElement {
  return (
    <Field
      label="Customer ID path"
      placeholder="none"
      value={value}
      disabled={disabled}
      onChange={({ target }) => change(target.value)}
      className="mono text-data"
      hint="Optional. The dot path to your ID for a portal customer. Leave empty if no event belongs to a customer."
    />
  )
}

export function KindFields(props: FieldsProps): ReactElement {
  switch (props.draft.kind) {
    case 'postgres':
    case 'mysql':
      return <DatabaseFields {...props} />
    case 'postgres_replication':
      return <ReplicationFields {...props} />
    case 'http_poll':
      return <PollFields {...props} />
    case 'sse':
      return <StreamFields {...props} />
  }
}

function Every({ draft, change, disabled = false }: FieldsProps): ReactElement {
  return (
    <Field
      label="Polling interval, seconds"
      type="number"
      min={LIMITS.sourcePollSecondsMin}
      max={LIMITS.sourcePollSecondsMax}
      value={draft.pollSeconds}
      disabled={disabled}
      onChange={({ target }) => change({ pollSeconds: target.value })}
    />
  )
}

function DatabaseFields(props: FieldsProps): ReactElement {
  const { draft, change, disabled = false } = props
  return (
    <>
      <ConnectionField {...props} />
      <TextArea
        label="Query"
        rows={4}
        required
        placeholder="select id, status, total, updated_at from orders"
        value={draft.query}
        disabled={disabled}
        onChange={({ target }) => change({ query: target.value })}
        hint="One SELECT statement without a semicolon. Its columns become the payload fields. Postroad adds the condition, order and limit."
      />
      <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
        <Field
          label="Cursor column"
          required
          placeholder="updated_at"
          value={draft.cursorColumn}
          disabled={disabled}
          onChange={({ target }) => change({ cursorColumn: target.value })}
          className="mono text-data"
          hint="A column whose values only increase, such as an update time or a number."
        />
        <Field
          label="Key column"
          placeholder="none"
          value={draft.keyColumn}
          disabled={disabled}
          onChange={({ target }) => change({ keyColumn: target.value })}
          className="mono text-data"
          hint="Optional. A unique column that orders rows with the same cursor value. Leave empty if the cursor is unique."
        />
        <Select
          label="Start from"
          value={draft.start}
          disabled={disabled}
          onChange={({ target }) =>
            change({ start: target.value === 'beginning' ? 'beginning' : target.value === 'value' ? 'value' : 'now' })
          }
        >
          <option value="now">rows from now on</option>
          <option value="beginning">the first row</option>
          <option value="value">rows after a value</option>
        </Select>
        {draft.start === 'value' ? (
          <Field
            label="Cursor value"
            value={draft.startValue}
            disabled={disabled}
            onChange={({ target }) => change({ startValue: target.value })}
            className="mono text-data"
          />
        ) : (
          <span className="max-md:hidden" />
        )}
        <Every draft={draft} change={change} disabled={disabled} />
        <Field
          label="Rows per read"
          type="number"
          min={1}
          max={LIMITS.sourceBatchRowsMax}
          value={draft.batchLimit}
          disabled={disabled}
          onChange={({ target }) => change({ batchLimit: target.value })}
        />
        <Field
          label="Delay before a row is read, seconds"
          type="number"
          min={0}
          max={LIMITS.sourceLagSecondsMax}
          value={draft.lagSeconds}
          disabled={disabled}
          onChange={({ target }) => change({ lagSeconds: target.value })}
          hint="Prevents Postroad from missing rows that are committed late."
        />
      </div>
      <EncryptionFields {...props} />
    </>
  )
}

function UrlFields({ draft, change, disabled = false }: FieldsProps): ReactElement {
  return (
    <>
      <Field
        label="URL"
        type="url"
        required
        placeholder="https://api.example.com/v1/orders"
        value={draft.url}
        disabled={disabled}
        onChange={({ target }) => change({ url: target.value })}
        className="mono text-data"
        hint="Use https. Plain http works only for addresses that the operator allows."
      />
      <TextArea
        label="Headers"
        rows={2}
        placeholder="Authorization: Bearer …"
        value={draft.headers}
        disabled={disabled}
        onChange={({ target }) => change({ headers: target.value })}
        hint={`One per line. Postroad never shows saved values.${placeholdersHint(draft.headers)} If you change the host, enter the values again.`}
      />
    </>
  )
}

function PollFields(props: FieldsProps): ReactElement {
  const { draft, change, disabled = false } = props
  return (
    <>
      <UrlFields {...props} />
      <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
        <Field
          label="Items path"
          placeholder="the whole response"
          value={draft.itemsPath}
          disabled={disabled}
          onChange={({ target }) => change({ itemsPath: target.value })}
          className="mono text-data"
          hint="The path to the list in the response. Each item becomes an event."
        />
        <Field
          label="ID path"
          placeholder="none"
          value={draft.keyPath}
          disabled={disabled}
          onChange={({ target }) => change({ keyPath: target.value })}
          className="mono text-data"
          hint="Optional. An item with the same ID is stored only once within 7 days. Leave empty to store every item."
        />
        <Every {...props} />
      </div>
      <div className="mb-3.5">
        <Check
          label="Continue from a cursor"
          checked={draft.hasCursor}
          disabled={disabled}
          onChange={({ target }) => change({ hasCursor: target.checked })}
        />
      </div>
      {draft.hasCursor && (
        <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
          <Field
            label="Cursor path"
            placeholder="next"
            value={draft.cursorPath}
            disabled={disabled}
            onChange={({ target }) => change({ cursorPath: target.value })}
            className="mono text-data"
          />
          <Select
            label="Read cursor from"
            value={draft.cursorFrom}
            disabled={disabled}
            onChange={({ target }) => change({ cursorFrom: target.value === 'last_item' ? 'last_item' : 'response' })}
          >
            <option value="response">the response</option>
            <option value="last_item">the last item</option>
          </Select>
          <Select
            label="Send cursor in"
            value={draft.cursorIn}
            disabled={disabled}
            onChange={({ target }) => change({ cursorIn: target.value === 'header' ? 'header' : 'query' })}
          >
            <option value="query">the query</option>
            <option value="header">a header</option>
          </Select>
          <Field
            label="As"
            placeholder="cursor"
            value={draft.cursorAs}
            disabled={disabled}
            onChange={({ target }) => change({ cursorAs: target.value })}
            className="mono text-data"
          />
          <Field
            label="First cursor"
            placeholder="none"
            value={draft.cursorStart}
            disabled={disabled}
            onChange={({ target }) => change({ cursorStart: target.value })}
            className="mono text-data"
          />
        </div>
      )}
    </>
  )
}

function StreamFields(props: FieldsProps): ReactElement {
  const { draft, change, disabled = false } = props
  return (
    <>
      <UrlFields {...props} />
      <Field
        label="Event names"
        placeholder="every event"
        value={draft.events}
        disabled={disabled}
        onChange={({ target }) => change({ events: target.value })}
        className="mono text-data"
        hint="Optional. Separate with commas. Leave empty to receive every event in the stream."
      />
    </>
  )
}
