import type { ReactElement } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { RefusedLine } from '../ui/states.tsx'

type Props = {
  readonly title: string
  /** What will happen, in plain words. */
  readonly text: string
  readonly verb: string
  readonly isRunning: boolean
  readonly error: Error | null
  readonly go: () => void
  readonly onClose: () => void
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, text, verb, isRunning, error, go, onClose }: Props): ReactElement {
  return (
    <Dialog open onClose={onClose} title={title} actions={<><Button onClick={onClose}>Cancel</Button><Button kind="danger" disabled={isRunning} onClick={go}>{verb}</Button></>}>
      <p className="mb-3 text-ink-2">{text}</p>
      <RefusedLine error={error} />
    </Dialog>
  )
}
