import { useState, type ReactElement } from 'react'
import { EDITED, useFocus } from './filter-entry.ts'
import { addressOf, localText, spanIn } from './span.ts'

type Times = ReturnType<typeof addressOf>

/** Two moments of the local time. */
// oxlint-disable-next-line import/no-default-export -- loaded by React.lazy
export default function TimeChip({
  search,
  choose,
}: {
  readonly search: Parameters<typeof spanIn>[0]
  readonly choose: (times: Times | undefined) => void
}): ReactElement {
  const field = useFocus<HTMLInputElement>()
  const [now] = useState(() => Date.now())
  const own = spanIn(search)
  const [from, setFrom] = useState(localText(own?.from ?? now - 3_600_000, 'second'))
  const [to, setTo] = useState(localText(own?.to ?? now, 'second'))
  const span = { from: Date.parse(from), to: Date.parse(to) }
  const isRange = span.to > span.from
  const box = 'h-6 bg-transparent text-ink'
  return (
    <form
      aria-label="Time"
      className={EDITED}
      onSubmit={(event) => {
        event.preventDefault()
        if (isRange) choose(addressOf(span))
      }}
    >
      <label className="flex items-center gap-1">
        from
        <input
          type="datetime-local"
          step={1}
          value={from}
          ref={field}
          onChange={({ target }) => setFrom(target.value)}
          onKeyDown={(event) => event.key === 'Escape' && choose(undefined)}
          className={box}
        />
      </label>
      <label className="flex items-center gap-1">
        to
        <input
          type="datetime-local"
          step={1}
          value={to}
          onChange={({ target }) => setTo(target.value)}
          onKeyDown={(event) => event.key === 'Escape' && choose(undefined)}
          className={box}
        />
      </label>
      <button
        type="submit"
        disabled={!isRange}
        title={isRange ? undefined : 'The end must be later than the start'}
        className="min-h-6 px-1 font-control text-accent disabled:text-ink-3"
      >
        Apply
      </button>
      <button type="button" onClick={() => choose(undefined)} className="min-h-6 px-1 font-control text-ink-2">
        Cancel
      </button>
    </form>
  )
}
