import { useEffect, useRef, useState } from 'react'

/** `fresh`: nothing is known yet. `opening`: what has landed is open. `done`: one went away before anything came. */
type Landing = 'fresh' | 'waiting' | 'landing' | 'opening' | 'done'

/** As long as the event takes along the line (styles.css). */
const LANDING_MS = 1_300

/** The moment in which the first event comes: it is seen to land, then it opens. Who wants no motion sees it open at once. */
// oxlint-disable-next-line max-params -- whether one waits, what came, and what then
export function useLanding(isWaiting: boolean, first: string | undefined, open: (id: string) => void): Landing {
  const [state, setState] = useState<Landing>('fresh')
  const opened = useRef(false)
  if (isWaiting && state === 'fresh') setState('waiting')
  // Other ways lead away from the first run too: then nothing has come.
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
