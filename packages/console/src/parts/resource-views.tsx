import { useLocation } from '@tanstack/react-router'
import { Plus, Trash2 } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useSavedViews } from '../data/saved-views.ts'
import { useKeys } from '../shell/keys.ts'
import { IconButton } from '../ui/button.tsx'
import { Views } from '../ui/page.tsx'
import { NameView } from './name-view.tsx'

type Shown = { readonly q?: string; readonly view?: string }
type Props = {
  readonly views: readonly { readonly id: string; readonly label: string }[]
  readonly search: Shown
  readonly go: (shown: { readonly q: string | undefined; readonly view: string | undefined }) => void
}

/** The built-in views and the custom ones. A view is a filter with a name. */
export function ResourceViews({ views, search: { q = '', view = '' }, go }: Props): ReactElement {
  const { views: saved, save, remove } = useSavedViews(useLocation().pathname.split('/')[3] ?? '')
  const [isNaming, setNaming] = useState(false)
  const own = saved.find(({ search }) => (search['q'] ?? '') === q && (search['view'] ?? '') === view)
  const canSave = own === undefined && q !== ''
  useKeys({ s: () => canSave && setNaming(true) })
  const choose = (id: string): void => {
    const chosen = saved.find(({ name }) => `own:${name}` === id)
    if (chosen === undefined) go({ q: undefined, view: id === '' ? undefined : id })
    else go({ q: textIn(chosen.search['q']), view: textIn(chosen.search['view']) })
  }
  return (
    <div className="flex min-w-0 items-center">
      {views.length + saved.length > 1 && (
        <Views
          label="Views"
          of={[
            ...views.map(({ id, label }) => ({ id, label })),
            ...saved.map(({ name }) => ({ id: `own:${name}`, label: name })),
          ]}
          at={own === undefined ? (views.find(({ id }) => id === view)?.id ?? '') : `own:${own.name}`}
          go={choose}
        />
      )}
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
        <NameView
          onClose={() => setNaming(false)}
          onName={(name) => save({ name, search: { q, ...(view === '' ? {} : { view }) } })}
        />
      )}
    </div>
  )
}

function textIn(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
