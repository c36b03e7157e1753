import { lazy, Suspense, type ReactElement } from 'react'
import type { DialogProps } from './dialog-window.tsx'
import { loaded } from './loaded.ts'

const DialogWindow = lazy(() => loaded(() => import('./dialog-window.tsx')))

/**
 * A window over the page. Escape and a click beside it close it. The focus stays inside, and returns to its place when
 * the window closes. The code is loaded when the first dialog opens.
 */
export function Dialog(props: DialogProps): ReactElement | null {
  return props.open ? (
    <Suspense>
      <DialogWindow {...props} />
    </Suspense>
  ) : null
}
