import { X } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { Button, IconButton } from '../ui/button.tsx'
import { useCopy } from '../ui/copy.tsx'
import type { Marks } from './marks.ts'

/** Actions for the selected rows; shown while there are some. */
export function SelectedBar({
  marks,
  shown,
  children,
}: {
  readonly marks: Marks
  readonly shown: number
  readonly children: ReactNode
}): ReactElement | null {
  const copy = useCopy()
  const { ids } = marks
  if (ids.length === 0) return null
  return (
    <div
      role="toolbar"
      aria-label="Selected"
      className="flex min-h-10 flex-none flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-[18px] py-1"
    >
      <span role="status" className="mr-1 font-strong text-accent">
        {ids.length.toLocaleString('en')} selected
      </span>
      {children}
      <Button onClick={() => void copy(ids.join('\n'), ids.length === 1 ? 'ID copied' : `${ids.length} ids copied`)}>
        Copy IDs
      </Button>
      {ids.length < shown && (
        <Button kind="quiet" onClick={marks.all}>
          Select all {shown.toLocaleString('en')} loaded
        </Button>
      )}
      <IconButton label="Clear selection" className="ml-auto" onClick={marks.clear}>
        <X strokeWidth={1.5} />
      </IconButton>
    </div>
  )
}
