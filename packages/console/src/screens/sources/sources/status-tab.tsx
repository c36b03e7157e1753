import type { RouteAnswer, Routes } from '@postroad/contract'
import type { ReactElement, ReactNode } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import type { CronTrigger, Source, WsTrigger } from '../../../data/source-lists.ts'
import { conditionText } from '../../../parts/condition-draft.ts'
import { Facts, Part } from '../../../parts/detail.tsx'
import { counted } from '../../../parts/text-list.ts'
import { RefusedLine } from '../../../ui/states.tsx'
import { Moment, Next } from './columns.tsx'
import { RunTimes } from './cron-form.tsx'
import { ReplicationPart } from './replication-part.tsx'

type Fault = Source['last_error']

function LastError({ of, what }: { readonly of: Fault; readonly what: ReactNode }): ReactElement | null {
  if (of === null) return null
  return (
    <div role="alert" className="border-b border-line bg-fail-soft px-5 py-2.5 text-fail">
      <p className="break-words">{of.error}</p>
      <p className="text-data">
        <span className="mono">{of.reason}</span>, <Moment at={of.at} />. {what}
      </p>
    </div>
  )
}

function EventsLink({ dataset }: { readonly dataset: string }): ReactElement {
  return (
    <To screen="events" search={{ dataset }} className="mono text-data text-accent underline">
      {dataset}
    </To>
  )
}

export function SourceStatus({ source }: { readonly source: Source }): ReactElement {
  const { last_error, state, failing_since, failures, position, settings, skipped } = source
  return (
    <>
      <LastError
        of={last_error}
        what={
          state === 'disabled' ? (
            'The source is off.'
          ) : failures === 0 ? (
            'Postroad skipped the item and continues.'
          ) : (
            <>
              {counted(failures, 'failed run')} in a row
              {/* Only a source that cannot be read is turned off, and not one whose events this server refuses. */}
              {failing_since === null ? (
                '. Postroad retries.'
              ) : (
                <>
                  ; the first was <Moment at={failing_since} />. Postroad retries for 24 hours, then turns the source
                  off.
                </>
              )}
            </>
          )
        }
      />
      <Part title="State">
        <Facts
          of={[
            ['Writes to', <EventsLink key="dataset" dataset={source.dataset} />],
            [
              'Conditions',
              source.conditions.length === 0 ? (
                'none: every item'
              ) : (
                <span key="c" className="mono text-data">
                  {source.conditions.map(conditionText).join(' and ')}
                </span>
              ),
            ],
            ['Events stored', source.events.toLocaleString('en')],
            ['Last event', <Moment key="last" at={source.last_event_at} />],
            ['Last run', <Moment key="run" at={source.last_run_at} />],
            ['Next run', <Next key="next" at={source.next_run_at} />],
            ['Successful runs', source.runs.toLocaleString('en')],
            ['Skipped items', skipped === 0 ? 'none' : `${skipped.toLocaleString('en')}: too large, or not JSON`],
            ...('lag_seconds' in settings
              ? [['Reads rows after', counted(settings.lag_seconds, 'second')] as const]
              : []),
          ]}
        />
      </Part>
      {settings.kind === 'postgres_replication' && <ReplicationPart source={source} />}
      <Part
        title="Position"
        {...(position === null
          ? {}
          : { text: 'Postroad continues here, and has stored everything before this position.' })}
      >
        {position === null ? (
          <p className="text-ink-3">No position yet, because no run has succeeded.</p>
        ) : (
          <pre
            tabIndex={0}
            aria-label="Position"
            className="mono overflow-auto rounded-field bg-sunken p-2.5 text-data"
          >
            {JSON.stringify(position, null, 2)}
          </pre>
        )}
      </Part>
    </>
  )
}

export function CronStatus({ cron }: { readonly cron: CronTrigger }): ReactElement {
  const { id, enabled, time_zone, expression, last_run } = cron
  const asked = useAsk(['sources', 'cron', id, expression, time_zone, enabled, last_run], (client, signal) =>
    client.cronTriggers.get({ id }, { signal }),
  )
  return (
    <>
      <LastError of={cron.last_error} what="The last run stored no events." />
      <Part title="Next runs" text={enabled ? `In ${time_zone}, with UTC on the right.` : undefined}>
        <RefusedLine error={asked.error} />
        {enabled ? (
          <NextRunsOf asked={asked.data} timeZone={time_zone} />
        ) : (
          <p className="text-ink-3">
            The schedule is off, so no runs are planned. You can still use Run now to store one event.
          </p>
        )}
      </Part>
      <Part title="State">
        <Facts
          of={[
            ['Writes to', <EventsLink key="dataset" dataset={cron.dataset} />],
            ['Successful runs', cron.runs.toLocaleString('en')],
            ['Last run', <Moment key="last" at={last_run?.fired_at ?? null} />],
            [
              'Manual run',
              cron.run_requested_at === null ? 'none pending' : <Moment key="asked" at={cron.run_requested_at} />,
            ],
            [
              'Data',
              cron.data === null ? (
                'none'
              ) : (
                <span className="mono text-data" key="data">
                  {JSON.stringify(cron.data)}
                </span>
              ),
            ],
          ]}
        />
      </Part>
    </>
  )
}

function NextRunsOf({
  asked,
  timeZone,
}: {
  readonly asked: RouteAnswer<Routes['cronTriggers']['get']> | undefined
  readonly timeZone: string
}): ReactElement | null {
  return asked === undefined ? null : <RunTimes of={asked.next_runs} timeZone={timeZone} />
}

export function WsStatus({ socket }: { readonly socket: WsTrigger }): ReactElement {
  const { failures, dropped, heartbeat } = socket
  return (
    <>
      <LastError
        of={socket.last_error}
        what={failures === 0 ? '' : `${counted(failures, 'failed connection')} in a row. Postroad retries.`}
      />
      <Part title="State">
        <Facts
          of={[
            ['Writes to', <EventsLink key="dataset" dataset={socket.dataset} />],
            [
              'Conditions',
              socket.conditions.length === 0 ? (
                'none: every message'
              ) : (
                <span key="c" className="mono text-data">
                  {socket.conditions.map(conditionText).join(' and ')}
                </span>
              ),
            ],
            ['Connected', socket.connected_at === null ? 'no' : <Moment key="since" at={socket.connected_at} />],
            ['Next connection attempt', <Next key="next" at={socket.next_connect_at} />],
            [
              'Messages',
              socket.received === 0
                ? 'none'
                : `${socket.received.toLocaleString('en')}, of which ${socket.filed.toLocaleString('en')} became events`,
            ],
            [
              'Lost messages',
              dropped === 0 ? (
                'none'
              ) : (
                <span key="lost" className="text-fail">
                  {dropped.toLocaleString('en')}. They arrived too fast, or Postroad could not store them
                </span>
              ),
            ],
            ['Last message', <Moment key="last" at={socket.last_message_at} />],
            [
              'Messages sent on connect',
              socket.subscribe_messages === 0 ? 'none' : socket.subscribe_messages.toLocaleString('en'),
            ],
            ['Heartbeat', heartbeat === null ? 'none' : `every ${counted(heartbeat.every_seconds, 'second')}`],
          ]}
        />
      </Part>
    </>
  )
}
