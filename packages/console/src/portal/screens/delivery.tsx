import { useState, type ReactElement } from 'react'
import { Countdown, Time, took } from '../../ui/time.tsx'
import { useAsk, useChange, usePortal } from '../data/portal.ts'
import type { Attempt, Delivery } from '../data/server.ts'
import { Button, To, ToButton } from '../ui/button.tsx'
import { Head } from '../ui/head.tsx'
import { Blank, Card, Notice, Part, RefusedNotice, Skeleton } from '../ui/states.tsx'
import { answerText, deliverySaid, StatusChip } from '../ui/status.tsx'
import { Answer, Headers, Text } from './answer.tsx'

const BACK = { to: { view: 'deliveries' }, label: 'Deliveries' } as const
const POLL_MS = 5_000

/** One delivery, with all its attempts. */
export function DeliveryView({ id }: { readonly id: string }): ReactElement {
  const asked = useAsk(['deliveries', 'one', id], (server, signal) => server.delivery(id, signal), { everyMs: POLL_MS })
  if (asked.data !== undefined) return <Opened {...asked.data} />
  const isMissing = asked.error !== null && 'status' in asked.error && asked.error.status === 404
  return (
    <>
      <Head back={BACK} title="Delivery" />
      {isMissing ? (
        <Blank
          title="Delivery not found"
          actions={<ToButton to={{ view: 'deliveries' }}>Show all deliveries</ToButton>}
        >
          The delivery may be too old. Deliveries are stored for a limited number of days.
        </Blank>
      ) : asked.error === null ? (
        <Skeleton />
      ) : (
        <RefusedNotice error={asked.error} again={asked.refetch} />
      )}
    </>
  )
}

const RETRIED: ReadonlySet<Delivery['status']> = new Set(['pending', 'retrying', 'failed', 'delivered', 'cancelled'])

function Opened({
  delivery,
  attempts,
}: {
  readonly delivery: Delivery
  readonly attempts: readonly Attempt[]
}): ReactElement {
  const { refused } = usePortal()
  const { id, dataset, event_id, destination_id, status, created_at, next_attempt_at, held_by } = delivery
  const said = deliverySaid(delivery)
  const retry = useChange(['deliveries'], (server) => server.retry(id))
  const destinations = useAsk(['destinations', 'list'], (server, signal) => server.destinations(signal)).data
  const destination = destinations?.destinations.find((one) => one.id === destination_id)
  const isOutstanding = status === 'retrying' || status === 'pending'
  return (
    <>
      <Head
        back={BACK}
        title={dataset}
        isMono
        chip={<StatusChip of={said} />}
        text={
          <>
            {said.text}
            {isOutstanding && held_by === null && next_attempt_at !== null && (
              <>
                {' '}
                The next attempt is <Countdown to={next_attempt_at} />.
              </>
            )}
          </>
        }
        actions={
          RETRIED.has(status) && (
            <Button
              kind={status === 'failed' ? 'primary' : 'normal'}
              disabled={refused !== undefined || retry.isPending}
              title={refused}
              onClick={() => retry.mutate(undefined)}
            >
              {isOutstanding ? 'Retry now' : 'Send again'}
            </Button>
          )
        }
      />
      <RefusedNotice error={retry.error} />
      {retry.isSuccess && (
        <Notice tone="ok">
          {held_by === null
            ? 'The delivery is being sent again. The attempt appears below.'
            : 'The delivery is due. It is sent again when nothing holds it back.'}
        </Notice>
      )}
      <Card>
        <Part title="Event">
          <dl className="grid gap-x-6 sm:grid-cols-[140px_minmax(0,1fr)] sm:gap-y-2">
            <Fact name="Event ID">
              <span className="mono text-body break-all">{event_id}</span>
            </Fact>
            <Fact name="Destination">
              {destination === undefined ? (
                <span className="text-ink-3">{destinations === undefined ? '…' : 'a deleted destination'}</span>
              ) : (
                <To
                  to={{ view: 'destination', id: destination_id }}
                  className="mono text-body break-all text-accent underline-offset-2 hover:underline"
                >
                  {destination.url}
                </To>
              )}
            </Fact>
            <Fact name="Created">
              <Time at={created_at} />
            </Fact>
          </dl>
        </Part>
        <section aria-label="Attempts" className="py-5">
          <h2 className="mb-2 px-5 font-title">Attempts</h2>
          {attempts.length === 0 && <p className="px-5 text-ink-3">Nothing has been sent yet.</p>}
          <ol>
            {attempts.toReversed().map((attempt, index) => (
              <AttemptItem key={attempt.id} of={attempt} isOpen={index === 0} />
            ))}
          </ol>
        </section>
      </Card>
    </>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactElement }): ReactElement {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0 max-sm:mb-2">{children}</dd>
    </>
  )
}

const WHY: Readonly<Record<Attempt['trigger'], string>> = {
  initial: 'first attempt',
  automatic: 'automatic retry',
  manual: 'retried by a person',
  replay: 'sent again',
  resume: 'resumed',
}

function AttemptItem({ of: attempt, isOpen }: { readonly of: Attempt; readonly isOpen: boolean }): ReactElement {
  const { number, trigger, started_at, duration_ms, outcome } = attempt
  return (
    <li className="border-t border-line first:border-t-0">
      <details open={isOpen}>
        <summary className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 px-5 py-2 outline-offset-[-2px] hover:bg-hover">
          <span className="mono w-5 text-body text-ink-3">{number}</span>
          <b
            className={`mono text-body font-title ${outcome === 'succeeded' ? 'text-ok-text' : outcome === null ? 'text-accent' : 'text-fail'}`}
          >
            {answerText(attempt) ?? (outcome === null ? 'sending' : outcome)}
          </b>
          <span className="text-body text-ink-3">{WHY[trigger]}</span>
          <span className="ml-auto flex flex-wrap items-center gap-x-4">
            <Time at={started_at} />
            <span className="mono text-data text-ink-3">{took(duration_ms)}</span>
          </span>
        </summary>
        <div className="px-5 pt-1 pb-4">
          <Answer of={attempt} />
          <RequestPart of={attempt} />
        </div>
      </details>
    </li>
  )
}

/** The request of an attempt. It is read when a person asks for it. */
function RequestPart({ of: { id, request } }: { readonly of: Attempt }): ReactElement | null {
  const [isOpen, setOpen] = useState(false)
  const asked = useAsk(['attempt', id], (server, signal) => server.attempt(id, signal), { enabled: isOpen })
  if (request === null) return null
  const body = asked.data?.body
  return (
    <details className="mt-2" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="flex min-h-7 items-center gap-1.5 text-body text-ink-2">The request</summary>
      <p className="mono py-1 text-data break-all text-ink-2">
        {request.method} {request.url}
      </p>
      <Headers of={request.headers} />
      <RefusedNotice error={asked.error} again={asked.refetch} />
      {body !== undefined && body !== null && body.text !== null && <Text label="Request body">{body.text}</Text>}
      {body?.as_sent === false && (
        <p className="mt-1 text-body text-ink-3">
          The destination has changed since then, so the body that was sent may be different.
        </p>
      )}
    </details>
  )
}
