import type { RouteAnswer, Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { readingOf } from './commands.ts'
import { keyBodyOf, NEW_KEY, type KeyBody } from './draft.ts'
import { KeyFields } from './form.tsx'

type Props = { readonly onClose: () => void; readonly onMade: (id: string) => void }

/** Creates a key, and shows it once. */
export function CreateDialog({ onClose, onMade }: Props): ReactElement {
  const [draft, setDraft] = useState(NEW_KEY)
  const create = useChange(['dataKeys'], (client, body: KeyBody) => client.dataKeys.create(body))
  const read = keyBodyOf(draft)
  if (create.data !== undefined) {
    const { data } = create
    return <Made made={data} onClose={() => onMade(data.data_key.id)} />
  }
  return (
    <CreateWindow
      wide
      title="New Data API key"
      lead="Programs use this key to read stored records. It has no other permissions."
      read={read}
      call={(body) => ({ method: 'POST', path: 'data-keys', body })}
      submit={(body) => create.mutate(body)}
      change={create}
      onClose={onClose}
    >
      <KeyFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
    </CreateWindow>
  )
}

/** A person who closes the dialog before a copy is asked once. */
function Made({
  made: { data_key, key },
  onClose,
}: {
  readonly made: RouteAnswer<Routes['dataKeys']['create']>
  readonly onClose: () => void
}): ReactElement {
  const [isSaved, setSaved] = useState(false)
  const [isWarned, setWarned] = useState(false)
  const [shape, setShape] = useState('JSON')
  const leave = (): void => (isSaved || isWarned ? onClose() : setWarned(true))
  return (
    <Dialog
      open
      wide
      onClose={leave}
      title={`${data_key.name} is ready`}
      lead="The key is shown only once."
      actions={
        <>
          {isWarned && !isSaved && (
            <p role="alert" className="mr-auto self-center text-retry-text">
              You have not copied the key. Press again to close anyway.
            </p>
          )}
          <Button kind="primary" onClick={leave}>
            Done
          </Button>
        </>
      }
    >
      <SecretOnce
        label="Data API key"
        secret={key}
        note="Postroad stores only a hash. Store the key with your program’s secrets."
        onCopy={() => setSaved(true)}
      />
      <CodeBlock
        label="Read records with this key"
        of={readingOf({ key, dataset: data_key.datasets?.[0] ?? 'orders' })}
        at={shape}
        go={setShape}
      />
    </Dialog>
  )
}
