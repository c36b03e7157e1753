import { useEffect, useRef, useState } from 'react'

/** `fresh`: nothing is known yet. `opening`: the event that landed is open. `done`: the person left before an event arrived. */
type Landing = 'fresh' | 'waiting' | 'landing' | 'opening' | 'done'

/** The time that the event takes along the line (styles.css). */
const LANDING_MS = 1_300

/** The arrival of the first event: it lands on the line, then it opens. Without motion it opens immediately. */
// oxlint-disable-next-line max-params -- whether the page waits, the first event, and the way to open it
export function useLanding(isWaiting: boolean, first: string | undefined, open: (id: string) => void): Landing {
  const [state, setState] = useState<Landing>('fresh')
  const opened = useRef(false)
  if (isWaiting && state === 'fresh') setState('waiting')
  // A person can leave the first run before an event arrives.
  if (!isWaiting && state === 'waiting')
    setState(
      first === undefined ? 'done' : matchMedia('(prefers-reduced-motion: reduce)').matches ? 'opening' : 'landing',
    )
  useEffect(() => {
    if (state !== 'landing') return undefined
    const timer = setTimeout(() => setState('opening'), LANDING_MS)
    return () => clearTimeout(timer)
  }, [state])
  useEffect(() => {
    if (state !== 'opening' || first === undefined || opened.current) return
    opened.current = true
    open(first)
  }, [state, first, open])
  return state
}
