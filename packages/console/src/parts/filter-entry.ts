import { useEffect, useRef, type RefObject } from 'react'

/** The look of a filter that is being entered. */
export const EDITED =
  'inline-flex min-h-[26px] flex-wrap items-center gap-1.5 rounded-[5px] border border-accent bg-surface px-2 text-ink-2'

/** When the menu closes, it returns the focus to its button. The new field takes the focus afterwards. */
export function useFocus<Element extends HTMLElement>(): RefObject<Element | null> {
  const field = useRef<Element>(null)
  useEffect(() => {
    const timer = setTimeout(() => field.current?.focus(), FOCUS_MS)
    return () => clearTimeout(timer)
  }, [])
  return field
}

const FOCUS_MS = 50
