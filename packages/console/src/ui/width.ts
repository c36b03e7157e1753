import { useLayoutEffect, useState, type RefObject } from 'react'

/** Whether an element is narrower than this many pixels: lists and heads fit their own room, not the window. */
export function useIsNarrow(element: RefObject<HTMLElement | null>, pixels: number): boolean {
  const [isNarrow, setNarrow] = useState(false)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const measure = (): void => setNarrow(current.clientWidth > 0 && current.clientWidth < pixels)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [element, pixels])
  return isNarrow
}
