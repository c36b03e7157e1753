import { createContext, useCallback, useContext, useState, type ReactElement, type ReactNode } from 'react'

export type Message = { readonly text: string; readonly kind?: 'said' | 'fail' }

const ToastContext = createContext<(message: Message) => void>(() => undefined)
const SHOWN_MS = 4_000

/** Shows one sentence at the edge of the window for a few seconds, and announces it to screen readers. */
export function useToast(): (message: Message) => void {
  return useContext(ToastContext)
}

export function Toasts({ children }: { readonly children: ReactNode }): ReactElement {
  const [shown, setShown] = useState<(Message & { readonly id: number }) | undefined>()
  const say = useCallback((message: Message) => {
    const id = performance.now()
    setShown({ ...message, id })
    setTimeout(() => setShown((now) => (now?.id === id ? undefined : now)), SHOWN_MS)
  }, [])
  return (
    <ToastContext value={say}>
      {children}
      <div
        role="status"
        aria-live="polite"
        className="pointer-events-none fixed inset-x-0 bottom-12 z-50 grid place-items-center"
      >
        {shown !== undefined && (
          <p
            key={shown.id}
            className={`max-w-[60ch] animate-appear rounded-field px-3.5 py-2 font-control shadow-float ${shown.kind === 'fail' ? 'bg-fail-soft text-fail' : 'bg-ink text-on-ink'}`}
          >
            {shown.text}
          </p>
        )}
      </div>
    </ToastContext>
  )
}
