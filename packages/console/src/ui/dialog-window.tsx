import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { useRef, type ReactElement, type ReactNode } from 'react'
import { IconButton } from './button.tsx'

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
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-30 bg-[oklch(.2_.02_230/.28)] dark:bg-[oklch(0_0_0/.55)]" />
        <Base.Popup
          ref={popup}
          initialFocus={() => firstField(popup.current)}
          className={`fixed top-[12vh] left-1/2 z-40 flex max-h-[76vh] w-[calc(100vw-32px)] -translate-x-1/2 animate-appear flex-col rounded-page border border-line bg-raised shadow-float outline-none ${wide ? 'max-w-[720px]' : 'max-w-[480px]'}`}
        >
          <header className="flex items-start gap-3 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-title">{title}</Base.Title>
              {lead !== undefined && <Base.Description className="text-ink-3">{lead}</Base.Description>}
            </div>
            <Base.Close
              render={
                <IconButton label="Close">
                  <X strokeWidth={1.5} />
                </IconButton>
              }
            />
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 pb-4">{children}</div>
          {actions !== undefined && (
            <footer className="flex justify-end gap-2 border-t border-line px-5 py-3">{actions}</footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** One opens a form to write, and a choice to choose; what is neither begins at its first button. */
function firstField(popup: HTMLElement | null): HTMLElement | null {
  return popup?.querySelector<HTMLElement>('input:enabled, select:enabled, textarea:enabled, [data-first]') ?? null
}
