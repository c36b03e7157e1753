import { ArrowUp } from 'lucide-react'
import { useMemo, type ReactElement } from 'react'
import { useGo } from '../../../data/go.tsx'
import { useWebhooks } from '../../../data/names.ts'
import type { Marks } from '../../../parts/marks.ts'
import { Button, Kbd } from '../../../ui/button.tsx'
import { momentSecondText } from '../../../ui/moments.ts'
import { Empty, Loading, Refused, RefusedLine } from '../../../ui/states.tsx'
import { Table } from '../../../ui/table.tsx'
import { chosenColumns, columnsOf } from './columns.tsx'
import type { EventRow } from './rows.ts'
import type { EventsSearch } from './search.ts'
import type { useEvents } from './use-events.ts'
import { useTitles } from './use-titles.ts'

type Props = {
  readonly events: ReturnType<typeof useEvents>
  readonly search: EventsSearch
  readonly onGo: (row: EventRow) => void
  readonly marks: Marks
  /** The ids of the columns that are shown. */
  readonly shown: readonly string[]
  readonly onScrolled: (isScrolled: boolean) => void
  readonly onRelease: () => void
}

/** The rows, or the reason why there are none. */
export function List({ events, search, onGo, marks, shown, onScrolled, onRelease }: Props): ReactElement {
  const { nameOf } = useWebhooks()
  const titleOf = useTitles()
  const { rows, tail } = events
  const columns = useMemo(
    () => chosenColumns(columnsOf(tail, { webhookName: nameOf, titleOf }), shown),
    [tail, nameOf, titleOf, shown],
  )
  const go = useGo()
  if (events.refusal !== null)
    return (
      <Empty title="The filter is not valid" actions={<Button onClick={() => go('events')}>Clear the filter</Button>}>
        The error is beside the filter.
      </Empty>
    )
  if (events.error !== null && rows.length === 0) return <Refused error={events.error} again={events.again} />
  if (events.isLoading || (events.isAsking && rows.length === 0)) return <Loading />
  if (rows.length === 0) return <Nothing events={events} clear={() => go('events')} />
  return (
    <div aria-busy={events.isAsking} className="flex min-h-0 flex-1 flex-col">
      <Table
        label="Events"
        columns={columns}
        rows={rows}
        timeOf={timeOf}
        idOf={({ id }) => id}
        at={search.sel}
        onGo={onGo}
        isFixed={isGap}
        marks={marks}
        onScroll={(top) => onScrolled(top > 4)}
        onEnd={events.loadMore}
        end={hasEnd(events) ? <End events={events} /> : null}
        strip={
          events.heldBack > 0 && (
            <button
              type="button"
              onClick={onRelease}
              className="flex h-7 w-full items-center justify-center gap-1.5 border-b border-line bg-sunken text-data font-control text-accent hover:bg-accent-soft"
            >
              <ArrowUp className="size-[13px]" strokeWidth={1.5} aria-hidden />
              {events.heldBack.toLocaleString('en')} newer {events.heldBack === 1 ? 'event' : 'events'}, waiting while
              you read <Kbd>.</Kbd>
            </button>
          )
        }
      />
    </div>
  )
}

const timeOf = ({ at }: EventRow): string => at
const isGap = ({ kind }: EventRow): boolean => kind === 'gap'

type Events = Props['events']

const moment = (at: string | null): string => (at === null ? 'the start of the range' : momentSecondText(at))

/** The list without a row: the number of events that were searched, and a button that searches further. */
function Nothing({
  events: { wanted, isNarrowed, scanned, reached, isLooking, isPaused, stop, further },
  clear,
}: {
  readonly events: Events
  readonly clear: () => void
}): ReactElement {
  const many = scanned.toLocaleString('en')
  if (!isNarrowed)
    return (
      <Empty title="No events in this time range" actions={<Button onClick={clear}>Show all retained events</Button>}>
        Choose a longer range. New events appear here immediately.
      </Empty>
    )
  if (isLooking) {
    return (
      <Empty title={`${many} events searched, no match yet`} actions={<Button onClick={stop}>Stop</Button>}>
        <span role="status">Back to {moment(reached)}, continuing.</span>
      </Empty>
    )
  }
  if (wanted.view === 'rejected' && scanned === 0)
    return (
      <Empty title="No rejected requests" actions={<Button onClick={clear}>Show all events</Button>}>
        Requests that Postroad rejects appear here immediately.
      </Empty>
    )
  return (
    <Empty
      title={`0 of ${many} events match`}
      actions={
        <>
          {isPaused && (
            <Button kind="primary" onClick={further}>
              Look further back
            </Button>
          )}
          <Button onClick={clear}>Clear the filter</Button>
        </>
      }
    >
      {isPaused
        ? `Searched back to ${moment(reached)}. There are older events.`
        : 'Postroad searched the whole range. New matching events appear here as they arrive.'}
    </Empty>
  )
}

function hasEnd({ error, isPaused, isLoadingMore }: Events): boolean {
  return error !== null || isPaused || isLoadingMore
}

/** Below the last row: the next page is loading, has failed to load, or needs a press. */
function End({
  events: { error, again, isPaused, scanned, reached, further, isLoadingMore },
}: {
  readonly events: Events
}): ReactElement | null {
  if (error !== null)
    return (
      <div className="flex items-center gap-3 p-3">
        <RefusedLine error={error} />
        <Button onClick={() => void again()}>Try again</Button>
      </div>
    )
  if (isPaused)
    return (
      <p className="flex items-center justify-center gap-3 p-3 text-ink-3">
        {scanned.toLocaleString('en')} events searched, back to {moment(reached)}.
        <Button onClick={further}>Look further back</Button>
      </p>
    )
  return isLoadingMore ? (
    <p role="status" className="p-3 text-center text-ink-3">
      Looking further back…
    </p>
  ) : null
}
