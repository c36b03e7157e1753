import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { bodyOf, NEW_RULE, type RuleBody } from './draft.ts'
import { NameField, ThenFields, WhenFields } from './form.tsx'
import { TryPart } from './try-part.tsx'

/** Creates a rule, tested with recent events while a person writes it. */
export function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [draft, setDraft] = useState(NEW_RULE)
  const create = useChange(['rules'], (client, body: RuleBody) => client.rules.create(body))
  const read = bodyOf(draft)
  const fields = { draft, change: (part: Partial<typeof draft>) => setDraft({ ...draft, ...part }) }
  return (
    <CreateWindow
      wide
      title="New rule"
      lead="A rule stores events that arrive with an ingest key and no dataset in the URL."
      read={read}
      call={(body) => ({ method: 'POST', path: 'rules', body })}
      submit={(body) => create.mutate(body, { onSuccess: ({ rule }) => onMade(rule.id) })}
      change={create}
      onClose={onClose}
      below={
        <section aria-label="Tried" className="mt-4 border-t border-line pt-4">
          <TryPart draft={draft} />
        </section>
      }
    >
      <NameField {...fields} />
      <h3 className="mb-1 font-control">When</h3>
      <WhenFields {...fields} />
      <ThenFields {...fields} />
    </CreateWindow>
  )
}
