import { useEffect, useRef } from 'react'

type Reading = {
  /** There is more to read, and nothing is being read. */
  readonly goesOn: boolean
  readonly pages: readonly unknown[] | undefined
  readonly fetchNextPage: () => Promise<unknown>
}

/**
 * Reads page after page while `goesOn`. Each page asks again: a fast response can arrive before React draws that its request began,
 * so `goesOn` alone would seem unchanged, and the list would stop in the middle.
 */
export function useReadOn({ goesOn, pages, fetchNextPage }: Reading): void {
  const after = useRef<unknown>(undefined)
  useEffect(() => {
    if (!goesOn || after.current === pages) return
    after.current = pages
    void fetchNextPage()
  })
}
