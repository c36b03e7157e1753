import { createContext, useContext, useSyncExternalStore } from 'react'
import { Tail } from './tail.ts'

export const TailContext = createContext<Tail | undefined>(undefined)

const tails = new Map<string, Tail>()

/** The tail of a project, one for the whole page. */
export function tailOf(projectId: string): Tail {
  const tail = tails.get(projectId) ?? new Tail(projectId)
  tails.set(projectId, tail)
  return tail
}

/** The live tail of the open project; draws again with each change. */
export function useTail(): Tail {
  const tail = useContext(TailContext)
  if (tail === undefined) throw new Error('Use this hook inside a project.')
  useSyncExternalStore(tail.subscribe, () => tail.version)
  return tail
}
