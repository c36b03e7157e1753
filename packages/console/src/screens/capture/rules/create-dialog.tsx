import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { usePlace } from '../../../data/place.ts'
import { adminCurl } from '../../../parts/commands.ts'
import { Button } from '../../../ui/button.tsx'
import { useCopy } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { bodyOf, NEW_RULE, type RuleBody } from './draft.ts'
import { NameField, ThenFields, WhenFields } from './form.tsx'
import { TryPart } from './try-part.tsx'

const FORM = 'create-rule'

/** Creates a rule, tested with recent events while a person writes it. */
export function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [draft, setDraft] = useState(NEW_RULE)
  const { project } = usePlace()
  const copy = useCopy()
  const create = useChange(['rules'], (client, body: RuleBody) => client.rules.create(body))
  const read = bodyOf(draft)
  const fields = { draft, change: (part: Partial<typeof draft>) => setDraft({ ...draft, ...part }) }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if ('body' in read) create.mutate(read.body, { onSuccess: ({ rule }) => onMade(rule.id) })
  }
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="New rule"
      lead="A rule files events of an ingest key whose address names no dataset."
      actions={
        <>
          <Button
            kind="quiet"
            className="mr-auto"
            disabled={!('body' in read)}
            onClick={() =>
              'body' in read &&
              void copy(adminCurl({ method: 'POST', project, path: 'rules', body: read.body }), 'Copied as curl')
            }
          >
            Copy as curl
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            form={FORM}
            disabled={!('body' in read) || create.isPending}
            title={'problem' in read ? read.problem : undefined}
          >
            Create
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit}>
        <NameField {...fields} />
        <h3 className="mb-1 font-control">When</h3>
        <WhenFields {...fields} />
        <ThenFields {...fields} />
        <RefusedLine error={create.error} />
      </form>
      <section aria-label="Tried" className="mt-4 border-t border-line pt-4">
        <TryPart draft={draft} />
      </section>
    </Dialog>
  )
}
