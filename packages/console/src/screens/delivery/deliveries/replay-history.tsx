import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { readsEvery } from '../../../data/ask.ts'
import { useClient, usePlace } from '../../../data/place.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { Loading, Refused } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { filterText, resultText } from './replay-text.ts'
import type { Replay } from './replays-ongoing.tsx'

const PAGE_ROWS = 20
const LIVE_MS = 4_000

const STATES = {
  running: { label: 'running', tone: 'sending' },
  paused: { label: 'paused', tone: 'paused' },
  done: { label: 'done', tone: 'ok' },
  cancelled: { label: 'canceled', tone: 'none' },
} as const

/** Every replay of the project, newest first: its filter, its progress and its result. */
export function ReplayHistory({
  nameOf,
  onClose,
}: {
  readonly nameOf: (id: string) => string
  readonly onClose: () => void
}): ReactElement {
  const client = useClient()
  const { project } = usePlace()
  const asked = useInfiniteQuery({
    queryKey: [project.id, 'replays', 'history'],
    queryFn: ({ pageParam, signal }) => client.replays.list({ limit: PAGE_ROWS, cursor: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined, // oxlint-disable-line typescript/no-unsafe-type-assertion -- the first page has no cursor
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: readsEvery(LIVE_MS),
  })
  const replays = asked.data?.pages.flatMap((page) => page.replays)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Replays"
      lead="All bulk replays in this project, newest first."
      actions={<Button onClick={onClose}>Close</Button>}
    >
      {replays === undefined &&
        (asked.error === null ? (
          <Loading rows={4} height={48} />
        ) : (
          <Refused error={asked.error} again={asked.refetch} />
        ))}
      {replays?.length === 0 && (
        <p className="text-ink-3">No replays yet. Start one with “Replay in bulk” above the delivery list.</p>
      )}
      {replays !== undefined && replays.length > 0 && (
        <ul aria-label="Replay history">
          {replays.map((replay) => (
            <Row key={replay.id} replay={replay} nameOf={nameOf} />
          ))}
        </ul>
      )}
      {asked.hasNextPage && (
        <Button className="mt-3" disabled={asked.isFetching} onClick={() => void asked.fetchNextPage()}>
          Show older replays
        </Button>
      )}
    </Dialog>
  )
}

function Row({ replay, nameOf }: { readonly replay: Replay; readonly nameOf: (id: string) => string }): ReactElement {
  const { created_at, ended_at, state, rate_per_second } = replay
  const { label, tone } = STATES[state]
  return (
    <li className="border-b border-line py-2.5 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Time at={created_at} />
        <Chip tone={tone}>{label}</Chip>
        <span className="min-w-0 flex-1 max-md:basis-full">{filterText(replay, nameOf)}</span>
      </div>
      <p className="mt-0.5 text-ink-2">
        {resultText(replay)}
        <span className="text-ink-3">
          {' '}
          · {rate_per_second} per second
          {ended_at !== null && (
            <>
              {' '}
              · ended <Time at={ended_at} />
            </>
          )}
        </span>
      </p>
    </li>
  )
}
