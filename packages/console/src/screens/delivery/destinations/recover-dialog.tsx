import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import type { Destination } from '../../../data/lists.ts'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Check, Select } from '../../../ui/field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { span } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'

const SINCE = [
  { hours: 1, label: 'the last hour' },
  { hours: 6, label: 'the last 6 hours' },
  { hours: 24, label: 'the last day' },
  { hours: 72, label: 'the last 3 days' },
  { hours: 168, label: 'the last 7 days' },
] as const

/** Replays the deliveries that have failed for good since a given time: first the plan, then the action. */
export function RecoverDialog({
  destination: { id, name, enabled },
  onClose,
}: {
  readonly destination: Destination
  readonly onClose: () => void
}): ReactElement {
  const [hours, setHours] = useState<number>(24)
  const [enable, setEnable] = useState(!enabled)
  const [now] = useState(() => Date.now())
  const toast = useToast()
  const since = new Date(now - hours * 3_600_000).toISOString()
  const plan = useAsk(
    ['recover', id, since],
    (client, signal) => client.destinations.recover({ id, since, dry_run: true }, { signal }),
    { keep: true },
  )
  const recover = useChange(['destinations', 'deliveries'], (client) =>
    client.destinations.recover({ id, since, enable }),
  )
  const count = plan.data?.plan.count ?? 0
  const isIdle = count === 0 && !(enable && !enabled)
  const go = (): void =>
    recover.mutate(undefined, {
      onSuccess: () => {
        toast({
          text:
            count === 0
              ? 'Turned on. Postroad sends the waiting deliveries now.'
              : `${counted(count, 'delivery', 'deliveries')} sent again, at a limited rate.`,
        })
        onClose()
      },
    })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Recover ${name}`}
      lead="Postroad replays every delivery that failed permanently in this period."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            // While the next plan is being counted, the text shows that of an earlier choice.
            disabled={plan.data === undefined || plan.isPlaceholderData || isIdle || recover.isPending}
            onClick={go}
          >
            Recover
          </Button>
        </>
      }
    >
      <Select label="Failures in" value={hours} onChange={({ target }) => setHours(Number(target.value))}>
        {SINCE.map((one) => (
          <option key={one.hours} value={one.hours}>
            {one.label}
          </option>
        ))}
      </Select>
      {!enabled && (
        <div className="mb-3.5">
          <Check
            label="Turn on and send the waiting deliveries"
            checked={enable}
            onChange={({ target }) => setEnable(target.checked)}
          />
        </div>
      )}
      {plan.data !== undefined && (
        <p role="status" className="mb-3 text-ink-2">
          {count === 0
            ? 'No deliveries failed permanently in this period.'
            : `${counted(count, 'delivery', 'deliveries')}${plan.data.plan.complete ? '' : ' and more'}, in about ${span(plan.data.plan.minutes * 60_000)}.`}{' '}
          {plan.data.plan.waiting > 0 &&
            `${plan.data.plan.waiting.toLocaleString('en')} more are waiting. Postroad sends them automatically when the destination is on.`}
        </p>
      )}
      <RefusedLine error={plan.error ?? recover.error} />
    </Dialog>
  )
}
