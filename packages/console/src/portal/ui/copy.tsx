import { useState, type ReactElement } from 'react'
import { Button } from './button.tsx'

const SHOWN_MS = 2_000

/** Copies a text. In a frame that may not use the clipboard it selects the text, so that a person can copy it. */
export function CopyButton({
  text,
  of,
  label = 'Copy',
}: {
  readonly text: string
  readonly of: string
  readonly label?: string
}): ReactElement {
  const [said, setSaid] = useState<string | undefined>()
  const copy = async (around: Element | null): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      select(around?.querySelector('code, pre') ?? null)
      setSaid('Selected')
    }
    setTimeout(() => setSaid(undefined), SHOWN_MS)
  }
  return (
    <Button
      aria-label={said === undefined ? `${label} ${of}` : said}
      onClick={({ currentTarget }) => void copy(currentTarget.closest('[role=group]'))}
    >
      {said ?? label}
    </Button>
  )
}

function select(element: Element | null): void {
  if (element !== null) getSelection()?.selectAllChildren(element)
}

/** A secret that is shown once, only on the screen. */
export function SecretOnce({ secret, note }: { readonly secret: string; readonly note: string }): ReactElement {
  return (
    <div
      role="group"
      aria-label="Signing secret"
      className="mb-4 rounded-field border border-accent-line bg-accent-soft p-4"
    >
      <b className="font-title">Signing secret</b>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <code className="mono min-w-0 flex-1 basis-60 rounded-chip bg-surface px-2.5 py-2 text-body break-all select-all">
          {secret}
        </code>
        <CopyButton text={secret} of="the signing secret" />
      </div>
      <p className="mt-2 text-body text-ink-2">{note}</p>
    </div>
  )
}
