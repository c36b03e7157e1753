import type { ReactElement } from 'react'
import { Choice } from '../../../parts/choice.tsx'
import { Part } from '../../../parts/detail.tsx'
import { Field } from '../../../ui/field.tsx'
import type { ReadingDraft } from './reading-draft.ts'

/** How a body is read, and whether its items become separate events. */
export function ReadingPart({
  draft,
  disabled,
  change,
}: {
  readonly draft: ReadingDraft
  readonly disabled: boolean
  readonly change: (part: Partial<ReadingDraft>) => void
}): ReactElement {
  const { bodyAs, items, path } = draft
  return (
    <Part
      title="Body"
      text="Forms and JSON are read by default. A request with a list of events can make a separate event of each item."
    >
      <Choice
        label="Read as"
        disabled={disabled}
        of={[
          { id: 'contract', label: 'JSON or form' },
          { id: 'xml', label: 'XML' },
          { id: 'text', label: 'Text' },
        ]}
        at={bodyAs}
        go={(id) => change({ bodyAs: id })}
      />
      <Choice
        label="Events in a request"
        disabled={disabled}
        of={[
          { id: 'none', label: 'One' },
          { id: 'list', label: 'Each item of a list' },
          { id: 'lines', label: 'Each line' },
        ]}
        at={items}
        go={(id) => change({ items: id })}
      />
      {items === 'list' && (
        <Field
          label="Path to the list"
          placeholder="data.events"
          value={path}
          disabled={disabled}
          onChange={({ target }) => change({ path: target.value })}
          hint="Leave empty if the whole body is the list."
          className="mono text-data"
        />
      )}
    </Part>
  )
}
