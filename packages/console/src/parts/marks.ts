import { useMemo, useState } from 'react'

export type Marks = {
  /** The ids of the selected rows that are shown. */
  readonly ids: readonly string[]
  readonly has: (id: string) => boolean
  readonly toggle: (id: string) => void
  /** Selects everything between the last selected row and this one. */
  readonly extend: (id: string) => void
  readonly all: () => void
  readonly clear: () => void
}

type Selection = { readonly ids: ReadonlySet<string>; readonly anchor: string | undefined }
const NONE: Selection = { ids: new Set(), anchor: undefined }

/** Rows that a person has selected, to do something with all of them. `order` contains the ids as they are shown. */
export function useMarks(order: readonly string[]): Marks {
  const [{ ids, anchor }, setSelection] = useState(NONE)
  const shown = useMemo(() => (ids.size === 0 ? [] : order.filter((id) => ids.has(id))), [ids, order])
  return {
    ids: shown,
    has: (id) => ids.has(id),
    toggle: (id) => {
      const next = new Set(ids)
      if (!next.delete(id)) next.add(id)
      setSelection({ ids: next, anchor: id })
    },
    extend: (id) => {
      const [from, to] = [order.indexOf(anchor ?? id), order.indexOf(id)].toSorted((a, b) => a - b)
      if (from !== undefined && to !== undefined && to >= 0)
        setSelection({ ids: new Set([...ids, ...order.slice(Math.max(0, from), to + 1)]), anchor: id })
    },
    all: () => setSelection({ ids: new Set(order), anchor }),
    clear: () => setSelection(NONE),
  }
}
