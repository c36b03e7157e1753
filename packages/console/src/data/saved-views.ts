import { useSyncExternalStore } from 'react'
import { usePlace } from './place.ts'
import type { Search } from './search-text.ts'

/** A filter with a name. */
export type SavedView = { readonly name: string; readonly search: Search }

const listeners = new Set<() => void>()

/** Only Events had views at first, so the key of its views names no screen. */
function keyOf(projectId: string, screen: string): string {
  return screen === 'events' ? `postroad.views.${projectId}` : `postroad.views.${projectId}.${screen}`
}

/** The views of a screen that this browser stores: the contract has views of records, not of these lists. */
export function savedViewsOf(projectId: string, screen: string): readonly SavedView[] {
  return parsed(localStorage.getItem(keyOf(projectId, screen)) ?? '[]')
}

/** The same views; the component renders again when they change. */
export function useSavedViews(screen: string): {
  readonly views: readonly SavedView[]
  readonly save: (view: SavedView) => void
  readonly remove: (name: string) => void
} {
  const { project } = usePlace()
  const key = keyOf(project.id, screen)
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => localStorage.getItem(key) ?? '[]',
  )
  const views = parsed(text)
  const keep = (next: readonly SavedView[]): void => {
    localStorage.setItem(key, JSON.stringify(next))
    for (const listener of listeners) listener()
  }
  return {
    views,
    save: (view) => keep([...views.filter(({ name }) => name !== view.name), view]),
    remove: (name) => keep(views.filter((view) => view.name !== name)),
  }
}

function parsed(text: string): readonly SavedView[] {
  try {
    const kept: unknown = JSON.parse(text)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `save` alone
    return Array.isArray(kept) ? (kept as SavedView[]) : []
  } catch {
    return []
  }
}
