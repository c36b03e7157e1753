import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'

export type MenuItem =
  | {
      readonly label: string
      readonly go: () => void
      /** At the right end: a key, a count, a mark. */
      readonly hint?: ReactNode
      readonly disabled?: boolean
      readonly danger?: boolean
    }
  | 'line'

type Props = {
  readonly anchor: HTMLElement
  readonly items: readonly MenuItem[]
  readonly align: 'start' | 'end'
  readonly onClose: () => void
}

// oxlint-disable-next-line import/no-default-export -- loaded by React.lazy
export default function MenuWindow({ anchor, items, align, onClose }: Props): ReactElement {
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Positioner anchor={anchor} align={align} sideOffset={6} className="z-40 outline-none">
          <Base.Popup
            finalFocus={() => anchor}
            className="max-h-[60vh] min-w-44 animate-appear overflow-y-auto rounded-field border border-line bg-raised p-1 shadow-float outline-none"
          >
            {items.map((item, index) =>
              item === 'line' ? (
                <Base.Separator key={index} className="my-1 h-px bg-line" />
              ) : (
                <Base.Item
                  key={item.label}
                  disabled={item.disabled ?? false}
                  onClick={item.go}
                  className={`flex h-7 cursor-default items-center gap-3 rounded-row px-2.5 outline-none data-disabled:opacity-50 data-highlighted:bg-hover ${item.danger === true ? 'text-fail' : ''}`}
                >
                  <span className="truncate">{item.label}</span>
                  <span className="ml-auto text-ink-3">{item.hint}</span>
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
