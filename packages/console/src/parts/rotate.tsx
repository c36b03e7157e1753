import type { UseMutationResult } from '@tanstack/react-query'
import { useState, type ReactElement } from 'react'
import { Button } from '../ui/button.tsx'
import { Check } from '../ui/field.tsx'
import { weekdayText } from '../ui/moments.ts'
import { AskDialog } from './ask-dialog.tsx'

type Props<T> = {
  readonly what: 'secret' | 'URL'
  /** How long the current secret or URL continues to work. */
  readonly hours: number
  /** When the previous one of an earlier rotation ends; null if there is none. */
  readonly until: string | null
  /** The reason why this person may not rotate it. */
  readonly refused: string | undefined
  /** The input is whether the rotation may end a running overlap. */
  readonly rotate: UseMutationResult<T, Error, boolean>
  readonly onRotated?: () => void
}

/** The button that rotates a secret or a URL. It asks first, and names the time at which the current one ends. */
export function Rotate<T>({ what, hours, until, refused, rotate, onRotated }: Props<T>): ReactElement {
  const [isAsking, setAsking] = useState(false)
  const [mayEnd, setMayEnd] = useState(false)
  const ask = (): void => {
    rotate.reset()
    setMayEnd(false)
    setAsking(true)
  }
  const isOverlapping = until !== null
  return (
    <>
      <Button kind="danger" disabled={refused !== undefined} title={refused} onClick={ask}>
        Rotate the {what}
      </Button>
      {isAsking && (
        <AskDialog
          title={`Rotate the ${what}?`}
          verb={`Rotate the ${what}`}
          disabled={rotate.isPending || (isOverlapping && !mayEnd)}
          error={rotate.error}
          onClose={() => setAsking(false)}
          onYes={() =>
            rotate.mutate(mayEnd, {
              onSuccess: () => {
                setAsking(false)
                onRotated?.()
              },
            })
          }
        >
          <ul className="mb-3.5 list-disc pl-5 text-ink-2">
            <li>The new {what} works immediately.</li>
            <li>{currentText(what, hours)}</li>
            {isOverlapping && (
              <li className="text-fail">
                The previous {what}, which is valid until {weekdayText(until)}, stops working immediately.
              </li>
            )}
          </ul>
          {isOverlapping && (
            <div className="mb-3.5">
              <Check
                checked={mayEnd}
                onChange={({ target }) => setMayEnd(target.checked)}
                label={`Expire the previous ${what} now`}
              />
            </div>
          )}
        </AskDialog>
      )}
    </>
  )
}

function currentText(what: string, hours: number): string {
  if (hours === 0) return `The current ${what} stops working immediately. Requests that still use it are rejected.`
  return `The current ${what} remains valid until ${weekdayText(Date.now() + hours * 3_600_000)}.`
}
