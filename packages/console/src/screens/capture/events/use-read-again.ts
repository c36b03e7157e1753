import { useEffect, useRef } from 'react'

type Stored = { readonly isFetching: boolean; readonly refetch: () => Promise<unknown> }

const READ_AGAIN_MS = 1_000

/** Reads the list again while events arrive that only the server can find, at most once a second. */
export function useReadAgain(stored: Stored, { newest, isNeeded }: { newest: number; isNeeded: boolean }): void {
  const latest = useRef({ newest, stored })
  useEffect(() => {
    latest.current = { newest, stored }
  })
  useEffect(() => {
    if (!isNeeded) return undefined
    let read = latest.current.newest
    const timer = setInterval(() => {
      if (latest.current.newest === read || latest.current.stored.isFetching) return
      read = latest.current.newest
      void latest.current.stored.refetch()
    }, READ_AGAIN_MS)
    return () => clearInterval(timer)
  }, [isNeeded])
}
