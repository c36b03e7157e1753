import { useSyncExternalStore } from 'react'
import { usePlace } from '../data/place.ts'

const listeners = new Set<() => void>()

/** The columns of a view; undefined: the default. This browser stores them for each view of a project. */
export function useStoredColumns(
  list: string,
  view: string,
): readonly [readonly string[] | undefined, (ids: readonly string[] | undefined) => void] {
  const { project } = usePlace()
  const key = `postroad.columns.${project.id}.${list}.${view}`
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => localStorage.getItem(key),
  )
  return [
    text === null ? undefined : read(text),
    (ids) => {
      if (ids === undefined) localStorage.removeItem(key)
      else localStorage.setItem(key, JSON.stringify(ids))
      for (const listener of listeners) listener()
    },
  ]
}

function read(text: string): readonly string[] | undefined {
  try {
    const kept: unknown = JSON.parse(text)
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : undefined
  } catch {
    return undefined
  }
}
