import { lazy, Suspense, type ComponentProps, type ReactElement } from 'react'
import { loaded } from '../ui/loaded.ts'

const TimeChip = lazy(() => loaded(() => import('./time-chip.tsx')))

/** The chip for two moments. Few visits need it, so its code is loaded when it is shown. */
export function TimeEntry(props: ComponentProps<typeof TimeChip>): ReactElement {
  return (
    <Suspense>
      <TimeChip {...props} />
    </Suspense>
  )
}
