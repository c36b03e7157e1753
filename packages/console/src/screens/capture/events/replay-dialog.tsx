import { wordOf } from '@postroad/contract/lights'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useDestinations } from '../../../data/names.ts'
import { toneOf, stateWord } from '../../../data/tone.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Check } from '../../../ui/field.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'
import type { Story } from './path.ts'

const ENDED: ReadonlySet<string> = new Set(['delivered', 'failed', 'cancelled'])

/** The plan before anything is sent: the destinations, and those that get the event a second time. */
export function ReplayDialog({
  story,
  onClose,
}: {
  readonly story: Story
  readonly onClose: () => void
}): ReactElement {
  const { nameOf } = useDestinations()
  const ended = story.deliveries.filter(({ state }) => ENDED.has(state))
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () =>
      new Set(
        ended
          .filter(({ state }) => state !== 'delivered')
          .map(({ id }) => id)
          .concat(ended.length === 1 ? ended.map(({ id }) => id) : []),
      ),
  )
  const toast = useToast()
  // oxlint-disable-next-line max-params -- a delivery, and whether it is sent
  const choose = (id: string, isChosen: boolean): void =>
    setChosen((before) => new Set(isChosen ? [...before, id] : [...before].filter((one) => one !== id)))
  const replay = useChange(['correlate', 'deliveries'], async (client, ids: readonly string[]) => {
    for (const id of ids) {
      await client.deliveries.replay({ id }) // oxlint-disable-line no-await-in-loop -- one after the other, so that the first refusal ends it
      choose(id, false)
    }
  })
  const repeats = ended.filter(({ id, state }) => chosen.has(id) && state === 'delivered').length
  const send = (): void => {
    const { size } = chosen
    replay.mutate([...chosen], {
      onSuccess: () => {
        toast({ text: `Sent again to ${size} ${size === 1 ? 'destination' : 'destinations'}.` })
        onClose()
      },
    })
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Replay this event"
      lead="Postroad sends the same body and event ID with a new signature, on a new retry schedule."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={chosen.size === 0 || replay.isPending} onClick={send}>
            Send {chosen.size} now
          </Button>
        </>
      }
    >
      <ul className="mb-3">
        {story.deliveries.map(({ id, destination_id, state, held_by }) => (
          <li key={id} className="flex min-h-9 items-center gap-2 border-b border-line/55">
            <Check
              label={nameOf(destination_id)}
              disabled={!ENDED.has(state)}
              checked={chosen.has(id)}
              onChange={({ target }) => choose(id, target.checked)}
            />
            <span className="ml-auto">
              <Chip tone={toneOf({ state, held_by })}>
                {ENDED.has(state) ? wordOf(state) : `${stateWord({ state, held_by })}: Postroad sends it automatically`}
              </Chip>
            </span>
          </li>
        ))}
      </ul>
      {repeats > 0 && (
        <p className="mb-3 text-retry-text">
          {repeats === 1
            ? 'One of them has already accepted this event'
            : `${repeats} of them have already accepted this event`}
          . A receiver that ignores the event id processes the event twice.
        </p>
      )}
      <RefusedLine error={replay.error} />
    </Dialog>
  )
}
