import { useEffect, useState } from 'react'

const SETTLED_MS = 400

/** A value once it has not changed for a moment: what is typed is not tried byte for byte. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
