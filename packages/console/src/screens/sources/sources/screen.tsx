import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllOrigins, type Origin } from '../../../data/source-lists.ts'
import { CommandLine } from '../../../parts/command-line.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { OriginDetail } from './detail.tsx'
import { kindLabel, kindOf, originLight, placeOf } from './origin.ts'

const isKind =
  (...kinds: readonly string[]) =>
  (origin: Origin): boolean =>
    kinds.includes(kindOf(origin))

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'databases', label: 'Databases', has: isKind('postgres', 'postgres_replication', 'mysql') },
  { id: 'http', label: 'HTTP', has: isKind('http_poll', 'sse') },
  { id: 'schedules', label: 'Schedules', has: isKind('cron') },
  { id: 'sockets', label: 'WebSockets', has: isKind('ws') },
  {
    id: 'trouble',
    label: 'With problems',
    has: (origin: Origin) => ['fail', 'retry'].includes(originLight(origin).tone),
  },
] as const

/** Sources and triggers: systems that send no webhooks, schedules, and sockets. */
export function Screen(): ReactElement {
  return (
    <ResourceScreen
      title="Sources"
      one="source"
      asked={useAllOrigins()}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={(origin) =>
        [origin.id, origin.name, origin.row.dataset, kindLabel(kindOf(origin)), placeOf(origin)].join(' ')
      }
      create={{ label: 'New source', route: routes.sources.create, dialog: CreateDialog }}
      path="sources"
      listWord="the sources"
      alsoLists={[
        { path: 'cron-triggers', what: 'the schedules' },
        { path: 'ws-triggers', what: 'the WebSockets' },
      ]}
      detail={OriginDetail}
      never={{
        title: 'No sources yet',
        text: (
          <>
            A source creates events from a system that does not send webhooks: a database, an API, a stream, a schedule
            or a WebSocket. To create an event every weekday at 9:00 UTC, run:
            <CommandLine words={"cron-triggers create --name Morning --expression '0 9 * * 1-5' --dataset mornings"} />
          </>
        ),
      }}
    />
  )
}
