import { ServiceError } from '@postroad/sdk/service-error'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange, usePortal } from '../data/portal.ts'
import { go } from '../data/route.ts'
import type { Destination, DestinationBody } from '../data/server.ts'
import { Button, To, ToButton } from '../ui/button.tsx'
import { Head } from '../ui/head.tsx'
import { Blank, Card, Notice, Part, RefusedNotice, Skeleton } from '../ui/states.tsx'
import { destinationSaid, StatusChip } from '../ui/status.tsx'
import { DeliveryRows } from './delivery-rows.tsx'
import { DestinationForm } from './destination-form.tsx'
import { SigningPart } from './signing.tsx'
import { TestPart } from './test.tsx'
import { VerifyPart } from './verify.tsx'

const BACK = { to: { view: 'destinations' }, label: 'Destinations' } as const
const POLL_MS = 10_000

/** One destination: its deliveries, its settings, its secret, and the ways to pause and delete it. */
export function DestinationView({ id }: { readonly id: string }): ReactElement {
  const asked = useAsk(['destinations', 'list'], (server, signal) => server.destinations(signal), { everyMs: POLL_MS })
  const destination = asked.data?.destinations.find((one) => one.id === id)
  if (destination !== undefined)
    return (
      <>
        {asked.error !== null && <RefusedNotice error={asked.error} again={asked.refetch} />}
        <Opened destination={destination} />
      </>
    )
  return (
    <>
      <Head back={BACK} title="Destination" />
      <RefusedNotice error={asked.error} again={asked.refetch} />
      {asked.data === undefined ? (
        asked.error === null && <Skeleton />
      ) : (
        <Blank
          title="Destination not found"
          actions={<ToButton to={{ view: 'destinations' }}>Show all destinations</ToButton>}
        >
          Someone may have deleted it.
        </Blank>
      )}
    </>
  )
}

function Opened({ destination }: { readonly destination: Destination }): ReactElement {
  const { refused } = usePortal()
  const [isEditing, setEditing] = useState(false)
  const said = destinationSaid(destination)
  const { id, url, description, enabled } = destination
  const pause = useChange(['destinations', 'deliveries'], (server, on: boolean) =>
    server.updateDestination(id, { enabled: on }),
  )
  return (
    <>
      <Head
        back={BACK}
        title={url}
        isMono
        chip={<StatusChip of={said} />}
        text={description ?? said.text}
        actions={
          <>
            <Button disabled={refused !== undefined || isEditing} title={refused} onClick={() => setEditing(true)}>
              Edit
            </Button>
            <Button
              disabled={refused !== undefined || pause.isPending}
              title={refused ?? (enabled ? 'Events wait until you resume the destination' : 'Waiting events are sent')}
              onClick={() => pause.mutate(!enabled)}
            >
              {enabled ? 'Pause' : 'Resume'}
            </Button>
          </>
        }
      />
      <RefusedNotice error={pause.error} />
      {!enabled && <Notice tone={said.tone === 'fail' ? 'fail' : 'retry'}>{said.text}</Notice>}
      <Card>
        {isEditing && <EditPart destination={destination} onDone={() => setEditing(false)} />}
        <RecentPart id={id} />
        <TestPart id={id} />
        <TypesPart destination={destination} />
        <SigningPart destination={destination} />
        <VerifyPart />
        <DeletePart id={id} />
      </Card>
    </>
  )
}

function EditPart({
  destination: { id, url, description, event_types },
  onDone,
}: {
  readonly destination: Destination
  readonly onDone: () => void
}): ReactElement {
  const { refused } = usePortal()
  const save = useChange(['destinations'], (server, body: DestinationBody) => server.updateDestination(id, body))
  return (
    <Part title="Edit destination">
      <DestinationForm
        first={{ url, description, event_types }}
        verb="Save"
        error={save.error}
        isRunning={save.isPending}
        refused={refused}
        onSubmit={(body) => save.mutate(body, { onSuccess: onDone })}
        onCancel={onDone}
      />
    </Part>
  )
}

const RECENT = 5

function RecentPart({ id }: { readonly id: string }): ReactElement {
  const asked = useAsk(
    ['deliveries', 'of', id],
    (server, signal) => server.deliveries({ destination_id: id, limit: RECENT }, signal),
    { everyMs: POLL_MS },
  )
  const deliveries = asked.data?.deliveries
  return (
    <section aria-label="Recent deliveries" className="border-b border-line py-5">
      <div className="mb-2 flex flex-wrap items-baseline justify-between gap-x-4 px-5">
        <h2 className="font-title">Recent deliveries</h2>
        {deliveries !== undefined && deliveries.length > 0 && (
          <To
            to={{ view: 'deliveries', destination: id }}
            className="inline-flex min-h-6 items-center text-body text-accent underline-offset-2 hover:underline"
          >
            Show all
          </To>
        )}
      </div>
      <div className="px-5">
        <RefusedNotice error={asked.error} again={asked.refetch} />
      </div>
      {deliveries?.length === 0 && (
        <p className="px-5 text-ink-3">
          Nothing has been sent to this destination yet. The next event will appear here.
        </p>
      )}
      {deliveries !== undefined && deliveries.length > 0 && <DeliveryRows of={deliveries} />}
    </section>
  )
}

function TypesPart({ destination: { event_types } }: { readonly destination: Destination }): ReactElement {
  return (
    <Part
      title="Event types"
      text={event_types === null ? 'This destination receives all event types, including ones added later.' : undefined}
    >
      {event_types !== null && (
        <ul className="flex flex-wrap gap-1.5">
          {event_types.map((name) => (
            <li key={name} className="mono rounded-chip border border-line bg-sunken px-2 text-body break-all">
              {name}
            </li>
          ))}
        </ul>
      )}
    </Part>
  )
}

/** Focuses the first answer of a question, which is the answer that changes nothing. */
function focusFirst(group: HTMLElement | null): void {
  group?.querySelector('button')?.focus()
}

function DeletePart({ id }: { readonly id: string }): ReactElement {
  const { refused } = usePortal()
  const [isAsking, setAsking] = useState(false)
  const remove = useChange(['destinations', 'deliveries'], async (server) => {
    await server.removeDestination(id).catch((error: unknown) => {
      // 404: another person has deleted the destination already.
      if (!(error instanceof ServiceError && error.status === 404)) throw error
    })
    go({ view: 'destinations' }, { replace: true })
  })
  return (
    <Part
      title="Delete destination"
      text="Events are no longer sent to this destination, and waiting deliveries are canceled. To stop deliveries for a while, pause the destination instead."
      beside={
        !isAsking && (
          <Button kind="danger" disabled={refused !== undefined} title={refused} onClick={() => setAsking(true)}>
            Delete…
          </Button>
        )
      }
    >
      <RefusedNotice error={remove.error} />
      {isAsking && (
        <div
          ref={focusFirst}
          role="group"
          aria-label="Delete this destination?"
          className="flex flex-wrap items-center gap-2"
        >
          <p className="mr-2 font-strong">Delete permanently?</p>
          <Button onClick={() => setAsking(false)}>Cancel</Button>
          <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate(undefined)}>
            Delete destination
          </Button>
        </div>
      )}
    </Part>
  )
}
