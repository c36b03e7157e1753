import type { RouteAnswer, Routes } from '@postroad/contract'
import { Download } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { saveFile } from '../../../parts/save-file.ts'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { commandsOf, type Use } from './commands.ts'

type Made = RouteAnswer<Routes['apiKeys']['create']>

/** A new key, which can be read only now. A person who closes the dialog before a copy is asked once. */
export function MadeDialog({
  made: { api_key, key },
  onClose,
}: {
  readonly made: Made
  readonly onClose: () => void
}): ReactElement {
  const [isSaved, setSaved] = useState(false)
  const [isWarned, setWarned] = useState(false)
  const [use, setUse] = useState<Use>('curl')
  const leave = (): void => (isSaved || isWarned ? onClose() : setWarned(true))
  const save = (): void => {
    saveFile(`${api_key.name.replaceAll(/[^\w-]+/g, '-').toLowerCase()}.env`, `SERVICE_TOKEN=${key}\n`)
    setSaved(true)
  }
  return (
    <Dialog
      open
      wide
      onClose={leave}
      title={`${api_key.name} is ready`}
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
        label="API key"
        secret={key}
        onCopy={() => setSaved(true)}
        note="Shown once. Postroad stores only a hash, so you cannot see the key again."
      />
      {isWarned && !isSaved && (
        <p role="alert" className="mb-3.5 rounded-field bg-retry-soft px-3 py-2 text-retry-text">
          You have not copied or saved the key yet. It cannot be shown again.
        </p>
      )}
      <h3 className="mb-1 font-strong">Try it</h3>
      <CodeBlock label="How to use the key" of={commandsOf(key, api_key.project_id)} at={use} go={setUse} />
    </Dialog>
  )
}
