import { useState, type ReactElement } from 'react'
import { Button } from '../ui/button.tsx'
import { useCopy } from '../ui/copy.tsx'

type Props = {
  readonly label: string
  readonly secret: string
  /** A sentence about its use. */
  readonly note: string
  readonly onCopy?: () => void
}

/** A secret that is shown once, only on the screen: it is in no address and in no store of the browser. */
export function SecretOnce({ label, secret, note, onCopy }: Props): ReactElement {
  const [done, setDone] = useState(false)
  const copy = useCopy()
  return (
    <div role="group" aria-label={label} className="mb-3.5 rounded-field border border-accent-line bg-accent-soft p-3">
      <b className="font-strong">{label}</b>
      <div className="mt-1.5 flex items-center gap-2">
        <code className="mono min-w-0 flex-1 rounded-chip bg-surface px-2 py-1 text-data break-all select-all">
          {secret}
        </code>
        <Button
          onClick={() => {
            void copy(secret, 'Copied').then((isDone) => {
              setDone(isDone)
              if (isDone) onCopy?.()
            })
          }}
        >
          {done ? 'Copied' : 'Copy'}
        </Button>
      </div>
      <p className="mt-1.5 text-data text-ink-2">{note}</p>
    </div>
  )
}
