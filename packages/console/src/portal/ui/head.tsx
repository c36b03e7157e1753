import { ArrowLeft } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import type { Route } from '../data/route.ts'
import { To } from './button.tsx'

/** The title of a view, its actions, and the way back to the list. */
export function Head({
  title,
  text,
  back,
  chip,
  actions,
  isMono = false,
}: {
  readonly title: string
  readonly text?: ReactNode
  readonly back?: { readonly to: Route; readonly label: string }
  readonly chip?: ReactNode
  readonly actions?: ReactNode
  /** The title is an address. */
  readonly isMono?: boolean
}): ReactElement {
  return (
    <div className="mb-4">
      {back !== undefined && (
        <To
          to={back.to}
          className="mb-2 inline-flex min-h-7 items-center gap-1.5 rounded-row text-body text-ink-3 hover:text-ink"
        >
          <ArrowLeft className="size-4" strokeWidth={1.5} aria-hidden />
          {back.label}
        </To>
      )}
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-72">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h1 tabIndex={-1} className={`min-w-0 break-all ${isMono ? 'mono text-page' : 'text-title'}`}>
              {title}
            </h1>
            {chip}
          </div>
          {text !== undefined && <p className="max-w-[68ch] break-words text-ink-3">{text}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
    </div>
  )
}
