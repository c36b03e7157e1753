import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { Fragment, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { every } from '../../../data/lists.ts'
import { usePlace } from '../../../data/place.ts'
import { differencesOf, otherDetails, sentenceOf, valueText } from '../../../parts/audit-sentence.ts'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { Differences } from '../../../parts/differences.tsx'
import { counted } from '../../../parts/text-list.ts'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { Area, type AreaProps } from './area.tsx'

/** The changes that operators made for the whole installation. */
export function AuditArea({ views }: AreaProps): ReactElement {
  const { me } = usePlace()
  const items = useCopyItemsOf()
  const asked = useAsk(['platformAudit', 'all'], (client, signal) =>
    every(client.platformAudit.list({ limit: 200 }, { signal })),
  )
  return (
    <Area
      views={views}
      label="Log"
      asked={asked}
      actions={<MoreMenu items={items({ route: routes.platformAudit.list })} />}
      foot={asked.data !== undefined && counted(asked.data.length, 'change')}
    >
      {(rows) =>
        rows.length === 0 ? (
          <Empty title="No changes yet">
            Changes to settings and announcements appear here. Operator changes to a workspace appear in the audit log
            of that workspace.
          </Empty>
        ) : (
          <ul aria-label="Log">
            {rows.map((row) => (
              <Line key={row.id} row={row} who={row.actor === me.user.id ? `${me.user.name} (you)` : row.actor} />
            ))}
          </ul>
        )
      }
    </Area>
  )
}

type Row = RouteAnswer<Routes['platformAudit']['list']>['audit'][number]

/** One change: a sentence, the changed members with both values, and the other details of the row. */
function Line({ row: { at, action, details }, who }: { readonly row: Row; readonly who: string }): ReactElement {
  const { before, after } = sentenceOf({ action })
  const differences = differencesOf({ details })
  const others = otherDetails({ details })
  return (
    <li className="flex flex-wrap gap-x-4 gap-y-1 border-b border-line/55 px-[18px] py-3">
      <Time at={at} />
      <div className="min-w-0 flex-1 basis-72">
        <p>
          <b className="font-strong">{who}</b>{' '}
          <span className="text-ink-2">{[before, after].filter((text) => text !== '').join(' ')}</span>
        </p>
        {differences.length > 0 && (
          <div className="mt-1.5 max-w-[640px]">
            <Differences of={differences} />
          </div>
        )}
        {others.length > 0 && (
          <dl className="mt-1 grid max-w-[640px] grid-cols-[max-content_minmax(0,1fr)] gap-x-4 text-data">
            {others.map(([name, value]) => (
              <Fragment key={name}>
                <dt className="text-ink-3">{name.replaceAll('_', ' ')}</dt>
                <dd className="break-words">{valueText(value)}</dd>
              </Fragment>
            ))}
          </dl>
        )}
      </div>
    </li>
  )
}
