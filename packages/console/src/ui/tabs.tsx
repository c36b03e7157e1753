import { Tabs as Base } from '@base-ui/react/tabs'
import { useEffect, useRef, type ReactElement, type ReactNode } from 'react'

export type Tab<Id extends string> = { readonly id: Id; readonly label: string; readonly count?: number | undefined }

type Props<Id extends string> = {
  readonly tabs: readonly Tab<Id>[]
  readonly at: Id
  readonly go: (id: Id) => void
  readonly label: string
  readonly beside?: ReactNode
  readonly children: ReactNode
}

/** Tabs over their panel; the children are the panel of the open tab. A bar that is too narrow for the tabs scrolls to the open one. */
export function Tabs<Id extends string>({ tabs, at, go, label, beside, children }: Props<Id>): ReactElement {
  const bar = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const list = bar.current
    const open = list?.querySelector<HTMLElement>(`[data-tab="${at}"]`) ?? null
    if (list === null || open === null) return undefined
    const watch = new ResizeObserver(() => {
      list.scrollLeft = open.offsetLeft - (list.clientWidth - open.offsetWidth) / 2
    })
    watch.observe(list)
    return () => watch.disconnect()
  }, [at])
  return (
    <Base.Root
      value={at}
      onValueChange={(next) => {
        const to = tabs.find(({ id }) => id === next)
        if (to !== undefined) go(to.id)
      }}
      className="grid min-h-0 min-w-0 flex-1 grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)]"
    >
      <div className="flex items-stretch border-y border-line px-3">
        <Base.List
          ref={bar}
          aria-label={label}
          className="relative -mb-px flex min-w-0 overflow-x-auto pb-px [scrollbar-width:none]"
        >
          {tabs.map((tab) => (
            <Base.Tab
              key={tab.id}
              value={tab.id}
              data-tab={tab.id}
              className="relative h-[37px] flex-none px-2 font-control whitespace-nowrap text-ink-3 outline-offset-[-2px] data-active:text-ink data-active:after:absolute data-active:after:inset-x-2 data-active:after:bottom-[-1px] data-active:after:h-0.5 data-active:after:rounded-full data-active:after:bg-ink max-md:px-1.5 max-md:data-active:after:inset-x-1.5"
            >
              {tab.label}
              {tab.count !== undefined && (
                <span className="mono ml-[5px] text-label text-ink-3 max-md:hidden">{tab.count}</span>
              )}
            </Base.Tab>
          ))}
        </Base.List>
        <div className="ml-auto flex items-center">{beside}</div>
      </div>
      <Base.Panel value={at} className="min-h-0 overflow-y-auto outline-offset-[-2px]">
        {children}
      </Base.Panel>
    </Base.Root>
  )
}
