import type { ReactElement } from 'react'
import { Check, Field, TextArea } from '../../../ui/field.tsx'
import { ConnectionField, EncryptionFields, type FieldsProps } from './connection-fields.tsx'
import { OPERATIONS, type Operation } from './draft.ts'

const LABELS: Readonly<Record<Operation, string>> = {
  insert: 'Inserted rows',
  update: 'Updated rows',
  delete: 'Deleted rows',
  truncate: 'Truncated tables',
}

/** The settings of a source that reads the changes of a database, instead of asking a query again. */
export function ReplicationFields(props: FieldsProps): ReactElement {
  const { draft, change, disabled = false } = props
  const { operations } = draft
  const select = (operation: Operation, isSelected: boolean): void =>
    change({ operations: OPERATIONS.filter((one) => (one === operation ? isSelected : operations.includes(one))) })
  return (
    <>
      <ConnectionField {...props} hint="The account needs the REPLICATION attribute." />
      <TextArea
        label="Tables"
        rows={3}
        placeholder="public.orders"
        value={draft.tables}
        disabled={disabled}
        onChange={({ target }) => change({ tables: target.value })}
        className="mono text-data"
        hint="One per line. The account must own the tables, because Postroad creates a publication for them."
      />
      <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
        <Field
          label="Publication"
          placeholder="created by Postroad"
          value={draft.publication}
          disabled={disabled}
          onChange={({ target }) => change({ publication: target.value })}
          className="mono text-data"
          hint="Optional. An existing publication, instead of tables."
        />
        <Field
          label="Replication slot"
          placeholder="created by Postroad"
          value={draft.slot}
          disabled={disabled}
          onChange={({ target }) => change({ slot: target.value })}
          className="mono text-data"
          hint="Optional. An existing slot with the pgoutput plugin. Postroad does not drop it."
        />
      </div>
      <fieldset className="mb-3.5 flex flex-wrap gap-x-5 gap-y-1.5">
        <legend className="mb-1.5 font-strong">Changes that become events</legend>
        {OPERATIONS.map((operation) => (
          <Check
            key={operation}
            label={LABELS[operation]}
            checked={operations.includes(operation)}
            disabled={disabled}
            onChange={({ target }) => select(operation, target.checked)}
          />
        ))}
      </fieldset>
      <div className="mb-3.5">
        <Check
          label="Existing rows first"
          checked={draft.snapshot}
          disabled={disabled}
          onChange={({ target }) => change({ snapshot: target.checked })}
        />
        <p className="mt-1 text-ink-3">
          When the source starts or restarts, each existing row becomes one event. Each table needs a primary key.
        </p>
      </div>
      <EncryptionFields {...props} />
    </>
  )
}
