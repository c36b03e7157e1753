import type { ReactElement } from 'react'
import { useCopy } from '../ui/copy.tsx'
import { CodeText } from './code-text.tsx'

type Props<Id extends string> = {
  readonly label: string
  /** The same program in several languages, by their names. */
  readonly of: Readonly<Record<Id, string>>
  readonly at: Id
  readonly go: (id: Id) => void
}

/** A command or a program to copy, in the chosen language. */
export function CodeBlock<Id extends string>({ label, of, at, go }: Props<Id>): ReactElement {
  const copy = useCopy()
  const names = Object.keys(of).filter((name): name is Id => name in of)
  return (
    <div role="group" aria-label={label} className="overflow-hidden rounded-page bg-block text-block-ink">
      <div className="flex min-h-10 items-center gap-0.5 border-b border-block-line py-1.5 pr-1.5 pl-2">
        <div className="flex min-w-0 gap-0.5 overflow-x-auto [scrollbar-width:none]">
          {names.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === at}
              onClick={() => go(name)}
              className="h-[26px] flex-none rounded-row px-2.5 font-control text-block-ink-2 outline-offset-[-2px] aria-pressed:bg-block-line aria-pressed:text-block-ink"
            >
              {name}
            </button>
          ))}
        </div>
        <button
          type="button"
          onClick={() => void copy(of[at], 'Copied')}
          className="ml-auto h-7 flex-none rounded-button border border-block-line px-2.5 font-control outline-offset-[-2px] hover:bg-block-line"
        >
          Copy
        </button>
      </div>
      <pre
        tabIndex={0}
        className="mono max-h-[46vh] overflow-auto px-5 max-md:break-all max-md:whitespace-pre-wrap py-4 text-[12.5px] leading-[22px]"
      >
        <CodeText>{of[at]}</CodeText>
      </pre>
    </div>
  )
}
