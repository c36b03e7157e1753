import type { RouteAnswer, Routes } from '@postroad/contract'
import { Download } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { saveFile } from '../../../parts/save-file.ts'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { commandsOf, SHAPE_TEXTS, type Shape } from './commands.ts'

type Made = RouteAnswer<Routes['ingestKeys']['create']>

/** A new key, which can be read only now. A person who closes the dialog before a copy is asked once. */
export function MadeDialog({
  made: { ingest_key, key, signing_secret },
  onClose,
}: {
  readonly made: Made
  readonly onClose: () => void
}): ReactElement {
  const [isSaved, setSaved] = useState(false)
  const [isWarned, setWarned] = useState(false)
  const canSend = ingest_key.scopes.includes('ingest')
  const [shape, setShape] = useState<Shape>(canSend ? 'By rules' : 'Read the stream')
  const keep = (): void => setSaved(true)
  const leave = (): void => (isSaved || isWarned ? onClose() : setWarned(true))
  const commands = commandsOf({
    key,
    isSigned: signing_secret !== undefined,
    dataset: ingest_key.datasets?.[0] ?? 'orders',
  })
  const save = (): void => {
    saveFile(
      `${ingest_key.name.replaceAll(/[^\w-]+/g, '-').toLowerCase()}.env`,
      `INGEST_KEY=${key}\n${signing_secret === undefined ? '' : `SIGNING_SECRET=${signing_secret}\n`}`,
    )
    keep()
  }
  return (
    <Dialog
      open
      wide
      onClose={leave}
      title={`${ingest_key.name} is ready`}
      lead="The key works now. Store it with your program’s secrets."
      actions={
        <>
          <Button className="mr-auto" icon={<Download strokeWidth={1.5} />} onClick={save}>
            Save as .env
          </Button>
          <Button kind="primary" onClick={leave}>
            {isWarned && !isSaved ? 'Close without copying' : 'Done'}
          </Button>
        </>
      }
    >
      <SecretOnce
        label="Ingest key"
        secret={key}
        onCopy={keep}
        note="Shown once. Postroad stores only a hash, so you cannot see the key again."
      />
      {signing_secret !== undefined && (
        <SecretOnce
          label="Signing secret"
          secret={signing_secret}
          onCopy={keep}
          note="Signs each event in the X-Service-Signature header. Postroad encrypts the secret and shows it once."
        />
      )}
      {isWarned && !isSaved && (
        <p role="alert" className="mb-3.5 rounded-field bg-retry-soft px-3 py-2 text-retry-text">
          You have not copied or saved the key yet. It cannot be shown again.
        </p>
      )}
      <h3 className="mb-1 font-strong">Try it</h3>
      <CodeBlock label="How to use the key" of={commands} at={shape} go={setShape} />
      <p className="mt-2 text-data text-ink-3">{SHAPE_TEXTS[shape]}</p>
    </Dialog>
  )
}
