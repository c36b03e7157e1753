import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import { useRefusal } from '../../../data/place.ts'
import { useCopyItems } from '../../../parts/copy-as.tsx'
import { Facts, Part } from '../../../parts/detail.tsx'
import { PanelState } from '../../../parts/panel-state.tsx'
import { RunFrame } from '../../../parts/run-frame.tsx'
import { Button } from '../../../ui/button.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { Time } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { alertLight, causeOf, titleOf, type Alert } from './words.ts'

const LIVE_MS = 10_000
const HOUR_MS = 3_600_000

/** One alert: why it opened, the list that shows the cause, and the channels that got its events. */
export function AlertPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }): ReactElement {
  const asked = useAsk(['alerts', 'get', id], (client, signal) => client.alerts.get({ id }, { signal }), {
    everyMs: LIVE_MS,
  })
  const calls = useCopyItems({ path: `alerts/${id}` })
  if (asked.data === undefined) return <PanelState label="Alert" asked={asked} onClose={onClose} />
  const { alert, events } = asked.data
  const cause = causeOf(alert)
  return (
    <RunFrame
      label="Alert"
      title={`${titleOf(alert.type)}: ${alert.subject.name}`}
      light={alertLight(alert)}
      id={id}
      actions={alert.state === 'open' && <Mute alert={alert} />}
      calls={calls}
      onClose={onClose}
      meta={
        <To
          screen={cause.screen}
          search={cause.search}
          className="inline-flex min-h-6 items-center text-accent underline"
        >
          {cause.label}
        </To>
      }
    >
      <Part title="Why">
        <p className="mb-3 max-w-[68ch]">{alert.text}</p>
        <Facts of={factsOf(alert)} />
      </Part>
      <Part title="What was done" text="Each event went to every destination that takes the dataset postroad.">
        {events.length === 0 ? (
          <p className="text-ink-3">Nothing was sent about it{alert.held ? ' yet: quiet hours hold it back' : ''}.</p>
        ) : (
          <ul aria-label="Events" className="flex flex-col gap-2">
            {events.map((event) => (
              <li key={event.event_id} className="rounded-page border border-line-2 px-3 py-2">
                <p className="flex flex-wrap items-center gap-x-2.5">
                  <b className="font-strong capitalize">{event.change}</b>
                  <Time at={event.at} />
                  <To
                    screen="events"
                    search={{ sel: event.event_id }}
                    className="ml-auto inline-flex min-h-6 items-center text-accent underline"
                  >
                    Event
                  </To>
                </p>
                <Deliveries id={event.event_id} />
              </li>
            ))}
          </ul>
        )}
      </Part>
    </RunFrame>
  )
}

function factsOf(alert: Alert): Parameters<typeof Facts>[0]['of'] {
  const { opened_at, resolved_at, muted, severity, customer_id, type } = alert
  return [
    [
      'Type',
      <span key="type" className="mono text-data">
        {type}
      </span>,
    ],
    ['Severity', severity],
    ['Since', <Time key="since" at={opened_at} />],
    ...(resolved_at === null ? [] : [['Resolved', <Time key="resolved" at={resolved_at} />] as const]),
    ...(customer_id === null ? [] : [['Customer', customer_id] as const]),
    ...(muted === null
      ? []
      : [['Muted until', muted.until === null ? 'it resolves' : <Time key="muted" at={muted.until} />] as const]),
  ]
}

/** Where an event went, and how each delivery ended. */
function Deliveries({ id }: { readonly id: string }): ReactElement | null {
  const asked = useAsk(
    ['deliveries', 'of', id],
    (client, signal) => client.deliveries.list({ record_id: id, limit: 50 }, { signal }),
    { everyMs: LIVE_MS },
  )
  const deliveries = asked.data?.deliveries
  if (deliveries === undefined) return null
  if (deliveries.length === 0)
    return <p className="text-ink-3">It went to no channel. Add one to hear of the next alert.</p>
  return (
    <ul aria-label="Channels">
      {deliveries.map(({ id: delivery, destination_id, state }) => (
        <li key={delivery} className="flex min-h-6 items-center gap-2 text-ink-2">
          <To screen="deliveries" search={{ sel: delivery }} className="text-accent underline">
            {state === 'delivered' ? 'Delivered' : state}
          </To>
          <To screen="destinations" search={{ sel: destination_id }} className="mono truncate text-data">
            {destination_id}
          </To>
        </li>
      ))}
    </ul>
  )
}

function Mute({ alert: { id, muted } }: { readonly alert: Alert }): ReactElement {
  const refusal = useRefusal(routes.alerts.mute)
  const toast = useToast()
  const mute = useChange(['alerts'], (client, until: string | undefined) =>
    client.alerts.mute({ id, ...(until === undefined ? {} : { until }) }),
  )
  const unmute = useChange(['alerts'], (client) => client.alerts.unmute({ id }))
  const onError = (error: Error): void => toast({ text: error.message, kind: 'fail' })
  if (muted !== null)
    return (
      <Button
        disabled={refusal !== undefined || unmute.isPending}
        title={refusal}
        onClick={() => unmute.mutate(undefined, { onError })}
      >
        Unmute
      </Button>
    )
  const until = (hours: number) => () => mute.mutate(new Date(Date.now() + hours * HOUR_MS).toISOString(), { onError })
  return (
    <>
      <Button
        disabled={refusal !== undefined || mute.isPending}
        title={refusal ?? 'Nothing more is sent until it resolves.'}
        onClick={() => mute.mutate(undefined, { onError })}
      >
        Acknowledge
      </Button>
      {refusal === undefined && (
        <Menu
          align="end"
          items={[
            { label: 'For an hour', go: until(1) },
            { label: 'For 8 hours', go: until(8) },
            { label: 'For a day', go: until(24) },
          ]}
          className="inline-flex h-7 items-center rounded-button border border-line-2 px-2.5 font-control hover:bg-hover"
        >
          Snooze
        </Menu>
      )}
    </>
  )
}
