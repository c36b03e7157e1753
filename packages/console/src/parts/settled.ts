import { useEffect, useState } from 'react'

const SETTLED_MS = 400

/** A value that has not changed for a moment, so that not every keystroke is tested. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
