import { useBlocker } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

type Place = { readonly pathname: string; readonly search: object }

/** Whether the panel beside a list closes; a filter of the list does not close it. */
function leaves({ current, next }: { readonly current: Place; readonly next: Place }): boolean {
  return (
    current.pathname !== next.pathname || ['sel', 'tab'].some((name) => textOf(current, name) !== textOf(next, name))
  )
}

function textOf({ search }: Place, name: string): unknown {
  return new Map<string, unknown>(Object.entries(search)).get(name)
}

/** Asks before edits that are not saved are lost: by another page, tab or row, by Back, or by closing the window. */
export function Unsaved({ isUnsaved }: { readonly isUnsaved: boolean }): ReactElement | null {
  const blocked = useBlocker({
    shouldBlockFn: leaves,
    enableBeforeUnload: isUnsaved,
    disabled: !isUnsaved,
    withResolver: true,
  })
  if (blocked.status !== 'blocked') return null
  return (
    <Dialog
      open
      onClose={blocked.reset}
      title="Discard changes?"
      actions={
        <>
          <Button kind="danger" onClick={blocked.proceed}>
            Discard changes
          </Button>
          <Button kind="primary" onClick={blocked.reset}>
            Keep editing
          </Button>
        </>
      }
    >
      <p className="text-ink-2">You have unsaved changes.</p>
    </Dialog>
  )
}
