import { Check, Copy as CopyIcon } from 'lucide-react'
import { useState, type ReactElement, type ReactNode } from 'react'
import { useToast } from './toast.tsx'

const SHOWN_MS = 1_400

/** Puts text on the clipboard, and confirms it. False: the browser refused, as it does on a page without TLS. */
export function useCopy(): (text: string, what?: string) => Promise<boolean> {
  const toast = useToast()
  return async (text, what = 'Copied') => {
    try {
      await navigator.clipboard.writeText(text)
      toast({ text: what })
      return true
    } catch {
      toast({ text: 'The browser refused to copy this. Select the text instead.', kind: 'fail' })
      return false
    }
  }
}

type Props = {
  readonly text: string
  readonly label: string
  readonly children?: ReactNode
  readonly className?: string
}

/** Copies `text`; the children, if any, are shown in its place. */
export function CopyButton({ text, label, children, className = '' }: Props): ReactElement {
  const [done, setDone] = useState(false)
  const copy = useCopy()
  const Icon = done ? Check : CopyIcon
  return (
    <button
      type="button"
      aria-label={children === undefined ? label : undefined}
      title={label}
      className={`inline-flex min-h-6 min-w-6 items-center gap-1.5 rounded-chip hover:text-ink ${children === undefined ? 'justify-center text-ink-3' : ''} ${className}`}
      onClick={() => {
        void copy(text).then((isDone) => {
          setDone(isDone)
          setTimeout(() => setDone(false), SHOWN_MS)
        })
      }}
    >
      {children}
      {children !== undefined && <span className="sr-only">{label}</span>}
      <Icon className="size-3.5 flex-none text-ink-3" strokeWidth={1.5} aria-hidden />
    </button>
  )
}
