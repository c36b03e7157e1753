import { ServiceError } from '@postroad/sdk/service-error'
import { useState, type ReactElement } from 'react'
import { Countdown } from '../../ui/time.tsx'
import { useChange, usePortal } from '../data/portal.ts'
import type { Destination } from '../data/server.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton, SecretOnce } from '../ui/copy.tsx'
import { Select } from '../ui/field.tsx'
import { Part, RefusedNotice } from '../ui/states.tsx'

/** How long both secrets sign, in hours. */
const OVERLAPS = [
  { hours: 24, label: 'both secrets sign for 24 hours' },
  { hours: 168, label: 'both secrets sign for 7 days' },
  { hours: 1, label: 'both secrets sign for 1 hour' },
  { hours: 0, label: 'the old secret stops working immediately' },
] as const

/** The signing secret: the page shows it once, when it is made, and can replace it. */
export function SigningPart({
  destination: { id, previous_secret_expires_at: until, public_keys: keys },
}: {
  readonly destination: Destination
}): ReactElement {
  const { refused } = usePortal()
  const [isAsking, setAsking] = useState(false)
  const [hours, setHours] = useState<number>(OVERLAPS[0].hours)
  const rotate = useChange(['destinations'], (server, end_overlap: boolean) =>
    server.rotateSecret(id, { overlap_hours: hours, end_overlap }),
  )
  const isRunning = rotate.error instanceof ServiceError && rotate.error.reason === 'overlap_running'
  const secret = rotate.data?.signing_secret
  const replace = (endOverlap: boolean): void => rotate.mutate(endOverlap, { onSuccess: () => setAsking(false) })
  return (
    <Part
      title="Signing secret"
      text={
        <>
          Each event is signed with a secret that only you and the sender know. The secret is shown only when it is
          created.
          {until !== null && (
            <>
              {' '}
              The old secret also signs and expires <Countdown to={until} />.
            </>
          )}
        </>
      }
      beside={
        !isAsking && (
          <Button disabled={refused !== undefined} title={refused} onClick={() => setAsking(true)}>
            Replace secret…
          </Button>
        )
      }
    >
      {keys.map(({ key, expires_at }) => (
        <div key={key} role="group" aria-label="Public key" className="mb-3">
          <p className="text-ink-2">
            {expires_at === null ? (
              'Public key, which verifies the v1a signatures of webhook-signature:'
            ) : (
              <>
                Previous public key, expires <Countdown to={expires_at} />:
              </>
            )}
          </p>
          <div className="mt-1 flex flex-wrap items-center gap-2">
            <code className="mono min-w-0 flex-1 basis-60 break-all select-all">{key}</code>
            <CopyButton text={key} of="the public key" />
          </div>
        </div>
      ))}
      {secret !== undefined && !isAsking && (
        <SecretOnce secret={secret} note="The new secret signs from now on. It is shown only once." />
      )}
      {isAsking && (
        <>
          <div role="group" aria-label="Replace secret" className="mb-3 flex flex-wrap items-center gap-2">
            <Select
              label="Secret overlap"
              value={hours}
              onChange={({ currentTarget }) => setHours(Number(currentTarget.value))}
            >
              {OVERLAPS.map((one) => (
                <option key={one.hours} value={one.hours}>
                  {one.label}
                </option>
              ))}
            </Select>
            <Button kind="primary" disabled={rotate.isPending} onClick={() => replace(isRunning)}>
              {isRunning ? 'End overlap and replace' : 'Replace secret'}
            </Button>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
          </div>
          <RefusedNotice error={rotate.error} />
        </>
      )}
    </Part>
  )
}
