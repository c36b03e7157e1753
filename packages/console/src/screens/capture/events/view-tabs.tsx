import { Plus, Trash2 } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useGo } from '../../../data/go.tsx'
import { useSavedViews } from '../../../data/saved-views.ts'
import { NameView } from '../../../parts/name-view.tsx'
import { useKeys } from '../../../shell/keys.ts'
import { IconButton } from '../../../ui/button.tsx'
import { Views } from '../../../ui/page.tsx'
import { filterOf, isAt, isFiltered, VIEWS, type EventsSearch } from './search.ts'

/** The built-in views and the custom ones. A view is a filter with a name. */
export function ViewTabs({ search }: { readonly search: EventsSearch }): ReactElement {
  const go = useGo()
  const { views, save, remove } = useSavedViews('events')
  const [isNaming, setNaming] = useState(false)
  const own = views.find((view) => isAt(view.search, search))
  const canSave = own === undefined && isFiltered(search)
  useKeys({ s: () => canSave && setNaming(true) })
  const all = [
    ...VIEWS.map(({ id, label }) => ({ id: `:${id}`, label })),
    ...views.map(({ name }) => ({ id: name, label: name })),
  ]
  return (
    <div className="flex min-w-0 items-center">
      <Views
        label="Views"
        of={all}
        at={own?.name ?? all.find(({ id }) => id === `:${search.view ?? ''}`)?.id ?? ''}
        go={(id) =>
          go('events', {
            ...views.find(({ name }) => name === id)?.search,
            ...(id.startsWith(':') ? { view: id.slice(1) } : {}),
          })
        }
      />
      {canSave && (
        <IconButton label="Save this view (s)" onClick={() => setNaming(true)}>
          <Plus strokeWidth={1.5} />
        </IconButton>
      )}
      {own !== undefined && (
        <IconButton label={`Remove the view ${own.name}`} onClick={() => remove(own.name)}>
          <Trash2 strokeWidth={1.5} />
        </IconButton>
      )}
      {isNaming && (
        <NameView onClose={() => setNaming(false)} onName={(name) => save({ name, search: filterOf(search) })} />
      )}
    </div>
  )
}
