import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { Ago } from '../../../ui/ago.tsx'
import { Facts, Part } from '../../../parts/detail.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { Glyph } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Time } from '../../../ui/time.tsx'
import { Area, type AreaProps } from './area.tsx'
import { Outbox } from './outbox.tsx'

type Health = RouteAnswer<Routes['platformHealth']['get']>['health']

const EVERY_MS = 10_000

/** The health of the installation, as the server sees it. */
export function HealthArea({ views }: AreaProps): ReactElement {
  const items = useCopyItemsOf()
  const asked = useAsk(['platformHealth'], (client, signal) => client.platformHealth.get(undefined, { signal }), {
    everyMs: EVERY_MS,
  })
  return (
    <Area
      views={views}
      label="Health"
      asked={asked}
      actions={<MoreMenu items={items({ route: routes.platformHealth.get })} />}
      foot={
        asked.data !== undefined && (
          <span>
            Checked <Time at={asked.data.health.checked_at} />
          </span>
        )
      }
    >
      {({ health: { ok, problems, database, senders, deliveries, lanes, mails, loops, upkeep } }) => (
        <>
          <Part
            title={ok ? 'The installation is healthy' : 'Something needs attention'}
            text={
              <>
                <code className="mono">npx postroad doctor</code> runs more checks and takes longer.
              </>
            }
          >
            <ul aria-label="Problems">
              {problems.map((problem) => (
                <li key={problem} className="mb-1 rounded-field bg-fail-soft px-3 py-2 text-fail">
                  {problem}
                </li>
              ))}
            </ul>
            <Facts
              of={[
                [
                  'Database',
                  database.answered_in_ms < 1 ? 'answered in under 1 ms' : `answered in ${database.answered_in_ms} ms`,
                ],
                ['Delivery workers', `${senders.toLocaleString('en')} running`],
                [
                  'Overdue deliveries',
                  deliveries.oldest_due_at === null ? (
                    'none'
                  ) : (
                    <span key="overdue">
                      {deliveries.overdue.toLocaleString('en')}, the oldest due <Ago at={deliveries.oldest_due_at} />
                    </span>
                  ),
                ],
                [
                  'Destinations',
                  `${lanes.owned.toLocaleString('en')} assigned to a delivery worker, ${lanes.waiting.toLocaleString('en')} held back by a circuit breaker or a rate limit`,
                ],
                [
                  'Mail',
                  mails.mode === 'outbox'
                    ? 'no mail server is set: emails stay in the outbox, and you hand them over'
                    : `${mails.waiting.toLocaleString('en')} waiting for the mail server`,
                ],
              ]}
            />
          </Part>
          {mails.mode === 'outbox' && <Outbox of={mails.outbox} />}
          <Part
            title="Background jobs"
            text="The last run of each job in the server process that answered this request."
          >
            <ul aria-label="Background jobs">
              {loops.map(({ name, last_run_at, last_failed_at, failing }) => (
                <li
                  key={name}
                  className="flex min-h-7 flex-wrap items-center gap-x-3 border-b border-line/55 last:border-b-0"
                >
                  <Glyph tone={failing ? 'fail' : 'ok'} label={failing ? 'failing' : 'running'} />
                  <span className="mono min-w-0 flex-1 text-data break-words">{name}</span>
                  <span className="text-ink-3">
                    {last_run_at === null ? 'not yet' : <Ago at={last_run_at} />}
                    {last_failed_at !== null && (
                      <>
                        , failed <Ago at={last_failed_at} />
                      </>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          </Part>
          <UpkeepPart of={upkeep} />
        </>
      )}
    </Area>
  )
}

function UpkeepPart({ of }: { readonly of: Health['upkeep'] }): ReactElement {
  return (
    <Part title="Upkeep" text="The hourly tasks that create tables and delete old rows, in any process.">
      <ul aria-label="Upkeep">
        {of.map(({ name, last_run_at, duration_ms, failures, last_error }) => (
          <li
            key={name}
            className="flex min-h-7 flex-wrap items-center gap-x-3 border-b border-line/55 last:border-b-0"
          >
            <Glyph tone={failures > 0 ? 'fail' : 'ok'} label={failures > 0 ? 'failing' : 'succeeds'} />
            <span className="mono min-w-0 flex-1 text-data break-words">{name}</span>
            {failures > 0 && (
              <span className="text-fail">
                failed {failures === 1 ? 'once' : `${failures.toLocaleString('en')} times in a row`}: {last_error}
              </span>
            )}
            <span className="text-ink-3">
              <Ago at={last_run_at} />, {duration_ms.toLocaleString('en')} ms
            </span>
          </li>
        ))}
      </ul>
    </Part>
  )
}
