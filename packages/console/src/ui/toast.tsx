import { createContext, useCallback, useContext, useState, type ReactElement, type ReactNode } from 'react'

export type Message = {
  readonly text: string
  readonly kind?: 'said' | 'fail'
  /** A button behind the sentence. */
  readonly action?: { readonly label: string; readonly go: () => void }
}

const ToastContext = createContext<(message: Message) => void>(() => undefined)
const SHOWN_MS = 4_000
/** Longer, because a person decides and then reaches for the button. */
const SHOWN_WITH_ACTION_MS = 12_000

/** Shows one sentence at the edge of the window for a few seconds, and announces it to screen readers. */
export function useToast(): (message: Message) => void {
  return useContext(ToastContext)
}

export function Toasts({ children }: { readonly children: ReactNode }): ReactElement {
  const [shown, setShown] = useState<(Message & { readonly id: number }) | undefined>()
  const say = useCallback((message: Message) => {
    const id = performance.now()
    setShown({ ...message, id })
    const ms = message.action === undefined ? SHOWN_MS : SHOWN_WITH_ACTION_MS
    setTimeout(() => setShown((now) => (now?.id === id ? undefined : now)), ms)
  }, [])
  const act = (go: () => void): void => {
    setShown(undefined)
    go()
  }
  return (
    <ToastContext value={say}>
      {children}
      <div
        role="status"
        aria-live="polite"
        className="pointer-events-none fixed inset-x-0 bottom-12 z-50 grid place-items-center max-md:bottom-15"
      >
        {shown !== undefined && (
          <p
            key={shown.id}
            className={`flex max-w-[60ch] animate-appear items-center gap-3 rounded-field px-3.5 py-2 font-control shadow-float ${shown.kind === 'fail' ? 'bg-fail-soft text-fail' : 'bg-ink text-on-ink'}`}
          >
            {shown.text}
            {shown.action !== undefined && <Action of={shown.action} act={act} />}
          </p>
        )}
      </div>
    </ToastContext>
  )
}

type ActionProps = { readonly of: NonNullable<Message['action']>; readonly act: (go: () => void) => void }

function Action({ of: { label, go }, act }: ActionProps): ReactElement {
  return (
    <button
      type="button"
      onClick={() => act(go)}
      className="pointer-events-auto min-h-6 rounded-chip px-1.5 font-strong underline underline-offset-3"
    >
      {label}
    </button>
  )
}
