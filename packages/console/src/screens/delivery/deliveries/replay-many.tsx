import { LIMITS, routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { Pause, Play, X } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { useMay } from '../../../data/place.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Check, Field } from '../../../ui/field.tsx'
import { Loading, needs, Refused, RefusedLine } from '../../../ui/states.tsx'
import { bytes } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'

type Replay = RouteAnswer<Routes['replays']['list']>['replays'][number]
type State = 'failed' | 'cancelled' | 'delivered'
const STATES: readonly State[] = ['failed', 'cancelled', 'delivered']
const RATE_MAX = LIMITS.replayRatePerSecondMax
const LIVE_MS = 2_000

type Props = {
  readonly destination: string | undefined
  readonly state: string | undefined
  readonly nameOf: (id: string) => string
}

/** Replays everything that is like the list: first the plan, then at a pace. */
export function ReplayMany(props: Props): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const may = useMay(routes.replays.create)
  return (
    <>
      <Button disabled={!may} title={may ? undefined : needs(routes.replays.create.role)} onClick={() => setOpen(true)}>
        Replay many
      </Button>
      {isOpen && <PlanDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function PlanDialog({ destination, state, nameOf, onClose }: Props & { readonly onClose: () => void }): ReactElement {
  const [states, setStates] = useState<readonly State[]>(() =>
    STATES.filter((one) => one === state).concat(STATES.some((one) => one === state) ? [] : ['failed']),
  )
  const [rate, setRate] = useState('50')
  const pace = Math.min(RATE_MAX, Math.max(1, Math.floor(Number(rate)) || 1))
  const toast = useToast()
  const asked = { filter: { state: [...states], destination_id: destination }, rate_per_second: pace }
  const plan = useAsk(
    ['replays', 'plan', states, destination, pace],
    (client, signal) => client.replays.create({ ...asked, dry_run: true }, { signal }),
    { enabled: states.length > 0, keep: true },
  )
  const start = useChange(['replays', 'deliveries'], (client, request: typeof asked) => client.replays.create(request))
  const said = states.length === 0 ? undefined : plan.data?.plan
  const go = (): void =>
    start.mutate(asked, {
      onSuccess: ({ replay }) => {
        toast({
          text:
            replay === null
              ? 'There was nothing to send.'
              : `${replay.total ?? 'Many'} deliveries are being sent again.`,
        })
        onClose()
      },
    })
  return (
    <Dialog
      open
      onClose={onClose}
      title="Replay many deliveries"
      lead={
        destination === undefined
          ? 'To every destination. Choose one in the list to replay only its deliveries.'
          : `To ${nameOf(destination)}.`
      }
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={said === undefined || said.count === 0 || said.allowance?.left === 0 || start.isPending}
            onClick={go}
          >
            Send {said === undefined ? '' : `${said.count.toLocaleString('en')}${said.complete ? '' : ' or more'}`}{' '}
            again
          </Button>
        </>
      }
    >
      <fieldset className="mb-3.5">
        <legend className="mb-1 font-control">Those that are</legend>
        <div className="flex gap-5">
          {STATES.map((one) => (
            <Check
              key={one}
              label={one}
              checked={states.includes(one)}
              onChange={({ target }) =>
                setStates(target.checked ? [...states, one] : states.filter((other) => other !== one))
              }
            />
          ))}
        </div>
      </fieldset>
      <Field
        label="How many in a second"
        type="number"
        min={1}
        max={RATE_MAX}
        value={rate}
        onChange={({ target }) => setRate(target.value)}
        hint="New events go before them."
      />
      <div aria-live="polite" className="min-h-[132px]">
        {plan.error !== null && <Refused error={plan.error} again={plan.refetch} />}
        {said === undefined &&
          plan.error === null &&
          (states.length === 0 ? (
            <p className="text-ink-3">Choose at least one state.</p>
          ) : (
            <Loading rows={3} height={28} />
          ))}
        {said !== undefined && <Plan of={said} nameOf={nameOf} />}
      </div>
      <RefusedLine error={start.error} />
    </Dialog>
  )
}

function Plan({
  of: { count, complete, bytes: size, minutes, duplicates, allowance, destinations },
  nameOf,
}: {
  readonly of: RouteAnswer<Routes['replays']['create']>['plan']
  readonly nameOf: (id: string) => string
}): ReactElement {
  if (count === 0) return <p className="text-ink-3">No delivery is like this.</p>
  return (
    <div className="rounded-field bg-sunken px-3.5 py-2.5">
      <p className="font-strong">
        {count.toLocaleString('en')}
        {complete ? '' : ' or more'} {count === 1 ? 'delivery' : 'deliveries'}, {bytes(size)},{' '}
        {minutes < 1 ? 'under a minute' : `about ${Math.ceil(minutes)} min`}
      </p>
      {duplicates > 0 && (
        <p className="text-retry-text">
          {duplicates.toLocaleString('en')} of them were accepted before: those receivers get a repeat with the same
          event id.
        </p>
      )}
      {allowance !== null && <AllowanceLine of={allowance} />}
      <ul className="mt-1.5 text-ink-3">
        {destinations.slice(0, 5).map(({ id, count: each }) => (
          <li key={id} className="flex">
            <span className="truncate">{nameOf(id)}</span>
            <span className="mono ml-auto">{each.toLocaleString('en')}</span>
          </li>
        ))}
        {destinations.length > 5 && <li>and {destinations.length - 5} more</li>}
      </ul>
    </div>
  )
}

type Allowance = NonNullable<RouteAnswer<Routes['replays']['create']>['plan']['allowance']>

/** How many deliveries the plan has left this month, and what becomes of a replay that needs more. */
function AllowanceLine({ of: { left, suffices } }: { readonly of: Allowance }): ReactElement {
  if (left === 0)
    return (
      <p className="text-fail">
        The deliveries of this month are used up: nothing can be sent again until the next month begins (UTC) or the
        plan is changed.
      </p>
    )
  if (suffices) return <p className="text-ink-3">{left.toLocaleString('en')} deliveries are left this month.</p>
  return (
    <p className="text-retry-text">
      Only {left.toLocaleString('en')} {left === 1 ? 'delivery is' : 'deliveries are'} left this month. The replay
      pauses when they are used up, and goes on by itself when there is room again.
    </p>
  )
}

const UNDER_WAY: ReadonlySet<string> = new Set(['running', 'paused'])

/** The replays that are under way, each with how far it is, and a way to hold or end it. */
export function Ongoing(): ReactElement | null {
  const { data } = useAsk(['replays', 'list'], (client, signal) => client.replays.list({ limit: 5 }, { signal }), {
    everyMs: LIVE_MS * 2,
  })
  const ongoing = data?.replays.filter(({ state }) => UNDER_WAY.has(state)) ?? []
  return ongoing.length === 0 ? null : (
    <ul aria-label="Replays under way">
      {ongoing.map((replay) => (
        <Progress key={replay.id} replay={replay} />
      ))}
    </ul>
  )
}

function Progress({
  replay: { id, state, pause_reason, total, replayed, skipped, rate_per_second },
}: {
  readonly replay: Replay
}): ReactElement {
  const toast = useToast()
  const move = useChange(['replays', 'deliveries'], (client, to: 'pause' | 'resume' | 'cancel') =>
    client.replays[to]({ id }),
  )
  const go = (to: 'pause' | 'resume' | 'cancel'): void =>
    move.mutate(to, { onError: (error) => toast({ text: error.message, kind: 'fail' }) })
  const done = replayed + skipped
  return (
    <li className="flex h-9 items-center gap-3 border-b border-line bg-accent-soft px-[18px] text-accent">
      <span className="font-control">
        {pause_reason === 'allowance_used'
          ? 'Replay paused: the deliveries of this month are used up'
          : state === 'paused'
            ? 'Replay paused'
            : 'Replaying'}
      </span>
      <progress
        max={total ?? undefined}
        value={total === null ? undefined : done}
        aria-label="How far the replay is"
        className="h-1 w-40 accent-(--accent)"
      />
      <span className="mono text-data">
        {done.toLocaleString('en')}
        {total === null ? '' : ` of ${total.toLocaleString('en')}`}
      </span>
      <span className="text-data text-ink-3">{rate_per_second} a second</span>
      <span className="ml-auto flex">
        {state === 'running' ? (
          <IconButton label="Pause the replay" onClick={() => go('pause')}>
            <Pause strokeWidth={1.5} />
          </IconButton>
        ) : (
          <IconButton label="Resume the replay" onClick={() => go('resume')}>
            <Play strokeWidth={1.5} />
          </IconButton>
        )}
        <IconButton label="Cancel the replay" onClick={() => go('cancel')}>
          <X strokeWidth={1.5} />
        </IconButton>
      </span>
    </li>
  )
}
