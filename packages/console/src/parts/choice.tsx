import { useId, type ReactElement, type ReactNode } from 'react'

type Props<Id extends string> = {
  readonly label: string
  readonly of: readonly { readonly id: Id; readonly label: string }[]
  readonly at: Id
  readonly go: (id: Id) => void
  readonly hint?: ReactNode
  readonly disabled?: boolean
}

/** More characters than this do not fit on one line of a phone. */
const PHONE_CHARS = 32

/** One of a few choices, all of them in sight. */
export function Choice<Id extends string>({ label, of, at, go, hint, disabled = false }: Props<Id>): ReactElement {
  const id = useId()
  const isLong = of.reduce((sum, one) => sum + one.label.length, 0) > PHONE_CHARS
  return (
    <fieldset className="mb-3.5" disabled={disabled}>
      <legend className="mb-1 font-control">{label}</legend>
      <div
        className={`flex w-fit max-w-full flex-wrap gap-px rounded-field border border-line-2 p-0.5 ${isLong ? 'max-md:flex-col' : ''}`}
      >
        {of.map((one) => (
          <label key={one.id} className="relative cursor-default">
            <input
              type="radio"
              name={id}
              value={one.id}
              checked={one.id === at}
              onChange={() => go(one.id)}
              className="peer pointer-events-none absolute inset-0 size-full appearance-none rounded-row"
            />
            <span className="relative flex h-[26px] items-center rounded-row px-2.5 font-control text-ink-3 max-md:px-2 peer-checked:bg-press peer-checked:text-ink peer-disabled:opacity-60">
              {one.label}
            </span>
          </label>
        ))}
      </div>
      {hint !== undefined && <p className="mt-1 text-data text-ink-3">{hint}</p>}
    </fieldset>
  )
}
