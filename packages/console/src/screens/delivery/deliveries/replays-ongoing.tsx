import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { outcomeText } from '@postroad/contract/replay-outcome'
import { Pause, Play, X } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { useRefusal } from '../../../data/place.ts'
import { IconButton } from '../../../ui/button.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { resultText } from './replay-text.ts'

export type Replay = RouteAnswer<Routes['replays']['list']>['replays'][number]

const LIVE_MS = 4_000
const UNDER_WAY: ReadonlySet<string> = new Set(['running', 'paused'])
const NONE: readonly Replay[] = []

/** The ongoing replays, with buttons to pause or cancel, and the results of those that end while the page is open. */
export function Ongoing(): ReactElement | null {
  const { data } = useAsk(['replays', 'list'], (client, signal) => client.replays.list({ limit: 5 }, { signal }), {
    everyMs: LIVE_MS,
  })
  // The replays that had ended before, or whose result a person has read.
  const [read, setRead] = useState<ReadonlySet<string> | undefined>()
  const replays = data?.replays ?? NONE
  if (data !== undefined && read === undefined)
    setRead(new Set(replays.filter(({ state }) => !UNDER_WAY.has(state)).map(({ id }) => id)))
  const shown = replays.filter(({ id, state }) => UNDER_WAY.has(state) || read?.has(id) === false)
  return shown.length === 0 ? null : (
    <ul aria-label="Replays in progress">
      {shown.map((replay) =>
        UNDER_WAY.has(replay.state) ? (
          <Progress key={replay.id} replay={replay} />
        ) : (
          <Result key={replay.id} replay={replay} onRead={() => setRead(new Set([...(read ?? []), replay.id]))} />
        ),
      )}
    </ul>
  )
}

function Result({ replay, onRead }: { readonly replay: Replay; readonly onRead: () => void }): ReactElement {
  return (
    <li className="flex min-h-9 items-center gap-3 border-b border-line bg-sunken px-[18px]">
      <span className="font-control">{resultTitle(replay)}</span>
      <span role="status" className="text-ink-2">
        {resultText(replay)}
      </span>
      <span className="ml-auto">
        <IconButton label="Hide result" onClick={onRead}>
          <X strokeWidth={1.5} />
        </IconButton>
      </span>
    </li>
  )
}

/** A replay is done when its last delivery has ended, not when it was made due. */
function resultTitle({ state, outcome }: Replay): string {
  if (state !== 'done') return 'Replay canceled'
  return outcome.under_way === 0 ? 'Replay done' : 'All sent again'
}

function Progress({
  replay: { id, state, pause_reason, total, replayed, skipped, rate_per_second, outcome },
}: {
  readonly replay: Replay
}): ReactElement {
  const toast = useToast()
  const move = useChange(['replays', 'deliveries'], (client, to: 'pause' | 'resume' | 'cancel') =>
    client.replays[to]({ id }),
  )
  const go = (to: 'pause' | 'resume' | 'cancel'): void =>
    move.mutate(to, { onError: (error) => toast({ text: error.message, kind: 'fail' }) })
  const refused = {
    pause: useRefusal(routes.replays.pause),
    resume: useRefusal(routes.replays.resume),
    cancel: useRefusal(routes.replays.cancel),
  }
  const button = (to: 'pause' | 'resume' | 'cancel', icon: ReactElement): ReactElement => (
    <IconButton
      label={`${to === 'pause' ? 'Pause' : to === 'resume' ? 'Resume' : 'Cancel'} the replay`}
      disabled={refused[to] !== undefined}
      {...(refused[to] === undefined ? {} : { title: refused[to] })}
      onClick={() => go(to)}
    >
      {icon}
    </IconButton>
  )
  const done = replayed + skipped
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-3 border-b border-line bg-accent-soft px-[18px] text-accent">
      <span className="font-control">
        {pause_reason === 'allowance_used'
          ? 'Replay paused, because the monthly delivery quota is used up'
          : state === 'paused'
            ? 'Replay paused'
            : 'Replaying'}
      </span>
      <progress
        max={total ?? undefined}
        value={total === null ? undefined : done}
        aria-label="Replay progress"
        className="h-1 w-40 accent-(--accent)"
      />
      <span className="mono text-data">
        {done.toLocaleString('en')}
        {total === null ? '' : ` of ${total.toLocaleString('en')}`}
      </span>
      <span className="text-data text-ink-3">
        {[`${rate_per_second} a second`, outcomeText(outcome)].filter((text) => text !== '').join(' · ')}
      </span>
      <span className="ml-auto flex">
        {state === 'running'
          ? button('pause', <Pause strokeWidth={1.5} />)
          : button('resume', <Play strokeWidth={1.5} />)}
        {button('cancel', <X strokeWidth={1.5} />)}
      </span>
    </li>
  )
}
