import { Dialog as Base } from '@base-ui/react/dialog'
import { useBlocker } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useCallback, useRef, useState, type FormEvent, type ReactElement, type ReactNode, type RefObject } from 'react'
import { Button, IconButton } from './button.tsx'

export type DialogProps = {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  /** One sentence under the title. */
  readonly lead?: string | undefined
  readonly children: ReactNode
  /** Buttons at the end, the main one last. */
  readonly actions?: ReactNode
  readonly wide?: boolean
}

// oxlint-disable-next-line import/no-default-export -- loaded by React.lazy
export default function DialogWindow({
  open,
  onClose,
  title,
  lead,
  children,
  actions,
  wide = false,
}: DialogProps): ReactElement {
  const popup = useRef<HTMLDivElement>(null)
  const { onInput, asks, ask, answer } = useEdits(onClose)
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && ask()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-30 bg-[oklch(.2_.02_230/.28)] dark:bg-[oklch(0_0_0/.55)]" />
        <Base.Popup
          ref={popup}
          onInput={onInput}
          initialFocus={() => firstField(popup.current)}
          className={`fixed top-[12vh] left-1/2 z-40 flex max-h-[76vh] w-[calc(100vw-32px)] -translate-x-1/2 animate-appear flex-col rounded-page border border-line bg-raised shadow-float outline-none ${wide ? 'max-w-[720px]' : 'max-w-[480px]'}`}
        >
          <header className="flex items-start gap-3 px-5 pt-4 pb-2">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-title">{title}</Base.Title>
              {lead !== undefined && (
                <Base.Description className="mt-1 text-pretty text-ink-3">{lead}</Base.Description>
              )}
            </div>
            <Base.Close
              render={
                <IconButton label="Close">
                  <X strokeWidth={1.5} />
                </IconButton>
              }
            />
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 pt-1 pb-4">{children}</div>
          {asks ? (
            <div
              role="alert"
              className="flex flex-wrap items-center justify-end gap-2 border-t border-line bg-retry-soft px-5 py-3"
            >
              <p className="mr-auto font-control text-retry-text">Discard what you entered?</p>
              <Button kind="danger" onClick={() => answer(true)}>
                Discard it
              </Button>
              <Button kind="primary" autoFocus onClick={() => answer(false)}>
                Keep editing
              </Button>
            </div>
          ) : (
            actions !== undefined && (
              <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{actions}</footer>
            )
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

type Edits = {
  readonly onInput: (event: FormEvent) => void
  /** The dialog is asking whether to discard the typed text. */
  readonly asks: boolean
  /** Closes the dialog, or asks before it does. */
  readonly ask: () => void
  readonly answer: (discard: boolean) => void
}

/** Closing a dialog discards the typed text, so Escape, a click outside and Back ask first. The buttons of the dialog do not. */
function useEdits(onClose: () => void): Edits {
  const form = useRef<Element | null>(null)
  const [isAsking, setAsking] = useState(false)
  const isEdited = useCallback(() => isThere(form), [])
  const blocked = useBlocker({
    shouldBlockFn: useCallback(
      ({ action }: { readonly action: string }) => action !== 'PUSH' && action !== 'REPLACE' && isEdited(),
      [isEdited],
    ),
    enableBeforeUnload: isEdited,
    withResolver: true,
  })
  return {
    onInput: ({ target }) => {
      if (target instanceof Element) form.current = target.closest('form') ?? form.current
    },
    asks: isAsking || blocked.status === 'blocked',
    ask: () => (isEdited() ? setAsking(true) : onClose()),
    answer: (discard) => {
      setAsking(false)
      if (discard) onClose()
      if (blocked.status === 'blocked') {
        if (discard) blocked.proceed()
        else blocked.reset()
      }
    },
  }
}

/** A submitted form is no longer in the page. */
function isThere({ current }: RefObject<Element | null>): boolean {
  return current?.isConnected === true
}

/** The focus starts in the first field or choice; without one, at the first button. */
function firstField(popup: HTMLElement | null): HTMLElement | null {
  return popup?.querySelector<HTMLElement>('input:enabled, select:enabled, textarea:enabled, [data-first]') ?? null
}
