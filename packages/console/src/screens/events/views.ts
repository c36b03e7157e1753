import { useSyncExternalStore } from 'react'
import { usePlace } from '../../data/place.ts'
import { searchText } from '../../data/search-text.ts'
import type { EventsSearch } from './search.ts'

export type SavedView = { readonly name: string; readonly search: Pick<EventsSearch, 'f' | 'q' | 'dataset' | 'range' | 'view'> }

const listeners = new Set<() => void>()
const texts = { of: (projectId: string) => localStorage.getItem(`postroad.views.${projectId}`) ?? '[]' }

/** Views of one's own. They are kept in this browser: the contract has saved views of records, not of this list. */
export function useViews(): { readonly views: readonly SavedView[]; readonly save: (view: SavedView) => void; readonly remove: (name: string) => void } {
  const { project } = usePlace()
  const text = useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, () => texts.of(project.id))
  const views = parsed(text)
  const keep = (next: readonly SavedView[]): void => {
    localStorage.setItem(`postroad.views.${project.id}`, JSON.stringify(next))
    for (const listener of listeners) listener()
  }
  return { views, save: (view) => keep([...views.filter(({ name }) => name !== view.name), view]), remove: (name) => keep(views.filter((view) => view.name !== name)) }
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

/** Whether the address shows this view. */
export function isAt({ search: { f, q, dataset, range, view } }: SavedView, at: EventsSearch): boolean {
  return searchText({ f, q, dataset, range, view }) === searchText({ f: at.f, q: at.q, dataset: at.dataset, range: at.range, view: at.view })
}
