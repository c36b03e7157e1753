import { routes } from '@postroad/contract'
import { useRef, useState, type ReactElement } from 'react'
import type { Portal } from '../../../data/lists.ts'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { useIsNarrow } from '../../../ui/width.ts'
import { looksBody, type Looks } from './draft.ts'
import { LooksFields } from './looks-fields.tsx'
import { Preview } from './preview.tsx'

/** Below this width the preview is under the form. */
const BESIDE_PX = 760

/** The looks of a portal, beside the page as customers see it. The preview follows each change; customers see it when it is saved. */
export function LooksTab({ portal }: { readonly portal: Portal }): ReactElement {
  const around = useRef<HTMLDivElement>(null)
  const isNarrow = useIsNarrow(around, BESIDE_PX)
  const form = useSaveForm({
    held: portal.looks,
    read: looksBody,
    route: routes.portals.update,
    rooms: ['portals'],
    send: (client, body) => client.portals.update({ id: portal.id, ...body }),
    countsFrom: 'the next page load',
  })
  const shown = useLatest(form.draft)
  return (
    <SaveForm label="Appearance" of={form}>
      <div
        ref={around}
        className={`grid flex-1 ${isNarrow ? 'grid-cols-1' : 'grid-cols-[minmax(300px,380px)_minmax(0,1fr)]'}`}
      >
        <div className="p-5">
          <LooksFields {...fieldsOf(form)} portalName={portal.name} />
        </div>
        <div className={`bg-sunken p-5 ${isNarrow ? 'border-t border-line' : 'border-l border-line'}`}>
          <Preview name={portal.name} looks={shown} />
        </div>
      </div>
    </SaveForm>
  )
}

/** While a person types an accent, the preview shows the last whole one. */
function useLatest(draft: Looks): Looks {
  const [shown, setShown] = useState(draft)
  if (shown !== draft && 'body' in looksBody(draft)) setShown(draft)
  return shown
}
