import { LIMITS, routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { wordOf } from '@postroad/contract/lights'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { useSearchState } from '../../../data/go.tsx'
import { useWebhooks } from '../../../data/names.ts'
import { useRefusal } from '../../../data/place.ts'
import { Choice } from '../../../parts/choice.tsx'
import { localText } from '../../../parts/span.ts'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Check, Field } from '../../../ui/field.tsx'
import { Loading, Refused, RefusedLine } from '../../../ui/states.tsx'
import { bytes } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { ReplayHistory } from './replay-history.tsx'
import { rangeOf, RANGES, type RangeName } from './replay-range.ts'
import { boundsOf, type DeliveriesSearch } from './search.ts'

type State = 'failed' | 'cancelled' | 'delivered'
const STATES: readonly State[] = ['failed', 'cancelled', 'delivered']
const RATE_MAX = LIMITS.replayRatePerSecondMax

type Props = { readonly search: DeliveriesSearch; readonly nameOf: (id: string) => string }

/** Replays the deliveries that match the filters of the list: first the plan, then at a limited rate. Beside it: the history. */
export function ReplayMany(props: Props): ReactElement {
  // The address has the open dialog, so that the palette can open either one from every screen.
  const [{ open }, setSearch] = useSearchState<{ readonly open?: string }>()
  const isByRule = (props.search.rule ?? '') !== ''
  const refusal = useRefusal(routes.replays.create) ?? (isByRule ? NO_RULE : undefined)
  const may = refusal === undefined
  const setOpen = (what: 'plan' | 'history' | undefined): void => setSearch({ open: what })
  const close = (): void => setOpen(undefined)
  return (
    <span className="flex gap-2">
      <Button onClick={() => setOpen('history')}>Replays</Button>
      <Button disabled={!may} title={refusal} onClick={() => setOpen('plan')}>
        Replay in bulk
      </Button>
      {open === 'plan' && may && <PlanDialog {...props} onClose={close} />}
      {open === 'history' && <ReplayHistory nameOf={props.nameOf} onClose={close} />}
    </span>
  )
}

const NO_RULE = 'A replay cannot filter by rule. Remove that filter first.'

function PlanDialog({ search, nameOf, onClose }: Props & { readonly onClose: () => void }): ReactElement {
  const { state } = search
  const { nameOf: webhookName } = useWebhooks()
  const [states, setStates] = useState<readonly State[]>(() =>
    STATES.filter((one) => one === state).concat(STATES.some((one) => one === state) ? [] : ['failed']),
  )
  const [rate, setRate] = useState('50')
  const pace = Math.min(RATE_MAX, Math.max(1, Math.floor(Number(rate)) || 1))
  const toast = useToast()
  const [range, setRange] = useState<Range>(() => firstRange(search))
  const problem = range.from !== undefined && range.to !== undefined && range.from >= range.to
  const asked = {
    filter: { ...filterOf(search), state: [...states], from: range.from, to: range.to },
    rate_per_second: pace,
  }
  const plan = useAsk(
    ['replays', 'plan', asked],
    (client, signal) => client.replays.create({ ...asked, dry_run: true }, { signal }),
    { enabled: states.length > 0 && !problem, keep: true },
  )
  const start = useChange(['replays', 'deliveries'], (client, request: typeof asked) => client.replays.create(request))
  const said = states.length === 0 || problem ? undefined : plan.data?.plan
  const go = (): void =>
    start.mutate(asked, {
      onSuccess: ({ replay }) => {
        toast({ text: replay === null ? 'There was nothing to send.' : startedText(replay.total) })
        onClose()
      },
    })
  return (
    <Dialog
      open
      onClose={onClose}
      title="Replay deliveries in bulk"
      lead={leadOf(search, { nameOf, webhookName })}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={
              said === undefined ||
              // The count on the button is that of an earlier choice.
              plan.isPlaceholderData ||
              said.count === 0 ||
              said.allowance?.left === 0 ||
              start.isPending
            }
            onClick={go}
          >
            Send {said === undefined ? '' : `${said.count.toLocaleString('en')}${said.complete ? '' : ' or more'}`}{' '}
            again
          </Button>
        </>
      }
    >
      <fieldset className="mb-3.5">
        <legend className="mb-1 font-control">State</legend>
        <div className="flex gap-5">
          {STATES.map((one) => (
            <Check
              key={one}
              label={wordOf(one)}
              checked={states.includes(one)}
              onChange={({ target }) =>
                setStates(target.checked ? [...states, one] : states.filter((other) => other !== one))
              }
            />
          ))}
        </div>
      </fieldset>
      <RangeFields range={range} change={setRange} />
      <Field
        label="Deliveries per second"
        type="number"
        min={1}
        max={RATE_MAX}
        value={rate}
        onChange={({ target }) => setRate(target.value)}
        hint="Postroad sends new events before replays."
      />
      <div aria-live="polite" className="min-h-[132px]">
        {plan.error !== null && <Refused error={plan.error} again={plan.refetch} />}
        {plan.error === null && said === undefined && <NoPlan states={states} problem={problem} />}
        {said !== undefined && <Plan of={said} nameOf={nameOf} />}
      </div>
      <RefusedLine error={start.error} />
    </Dialog>
  )
}

const some = (value: string | undefined): string | undefined => (value === '' ? undefined : value)

/** The filters of the list that a replay takes; undefined members do not filter. */
function filterOf({ destination, endpoint, dataset }: DeliveriesSearch) {
  return { destination_id: some(destination), webhook_id: some(endpoint), dataset: some(dataset) }
}

function firstRange(search: DeliveriesSearch): Range {
  const { from, to } = boundsOf(search)
  return from === undefined ? { name: 'any', ...rangeOf('any') } : { name: 'between', from, to }
}

type NameOf = Props['nameOf']

/** Which deliveries the filters of the list leave. */
function leadOf(search: DeliveriesSearch, { nameOf, webhookName }: { nameOf: NameOf; webhookName: NameOf }): string {
  const { destination_id: destination, webhook_id: endpoint, dataset } = filterOf(search)
  if (destination === undefined && endpoint === undefined && dataset === undefined)
    return 'To all destinations. To replay only part of the deliveries, filter the list first.'
  const parts = [
    destination === undefined ? 'to all destinations' : `to ${nameOf(destination)}`,
    ...(dataset === undefined ? [] : [`in ${dataset}`]),
    ...(endpoint === undefined ? [] : [`from ${webhookName(endpoint)}`]),
  ]
  return `Deliveries ${parts.join(', ')}.`
}

/** The reason why there is no plan, or the notice that it is being counted. */
function NoPlan({
  states,
  problem,
}: {
  readonly states: readonly State[]
  readonly problem: boolean
}): ReactElement | null {
  if (states.length === 0) return <p className="text-ink-3">Choose at least one state.</p>
  if (problem) return <p className="text-fail">The start of the time range is after its end.</p>
  return <Loading rows={3} height={28} />
}

function startedText(total: number | null): string {
  const many = total === null ? 'Many deliveries' : counted(total, 'delivery', 'deliveries')
  return `Postroad is sending ${many} again.`
}

type Range = { readonly name: RangeName; readonly from: string | undefined; readonly to: string | undefined }

const fieldText = (moment: string | undefined): string =>
  moment === undefined ? '' : localText(Date.parse(moment), 'minute')

/** The time range of the deliveries: a named range, or from and to in the time of the browser. */
function RangeFields({
  range,
  change,
}: {
  readonly range: Range
  readonly change: (range: Range) => void
}): ReactElement {
  const moment = (member: 'from' | 'to', text: string): void =>
    change({ ...range, [member]: text === '' ? undefined : new Date(text).toISOString() })
  return (
    <>
      <Choice
        label="Created"
        of={RANGES}
        at={range.name}
        go={(name) => change({ name, ...(name === 'between' ? { from: range.from, to: range.to } : rangeOf(name)) })}
      />
      {range.name === 'between' && (
        <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
          <Field
            label="From"
            type="datetime-local"
            max="9999-12-31T23:59"
            defaultValue={fieldText(range.from)}
            onChange={({ target }) => moment('from', target.value)}
          />
          <Field
            label="To"
            type="datetime-local"
            max="9999-12-31T23:59"
            defaultValue={fieldText(range.to)}
            onChange={({ target }) => moment('to', target.value)}
          />
        </div>
      )}
    </>
  )
}

function Plan({
  of: { count, complete, bytes: size, minutes, duplicates, allowance, destinations },
  nameOf,
}: {
  readonly of: RouteAnswer<Routes['replays']['create']>['plan']
  readonly nameOf: (id: string) => string
}): ReactElement {
  if (count === 0) return <p className="text-ink-3">No delivery matches.</p>
  return (
    <div className="rounded-field bg-sunken px-3.5 py-2.5">
      <p className="font-strong">
        {count.toLocaleString('en')}
        {complete ? '' : ' or more'} {count === 1 ? 'delivery' : 'deliveries'}, {bytes(size)},{' '}
        {minutes < 1 ? 'under a minute' : `about ${Math.ceil(minutes)} min`}
      </p>
      {duplicates > 0 && (
        <p className="text-retry-text">
          {duplicates.toLocaleString('en')} of them were already accepted. Their receivers get a duplicate with the same
          event ID.
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

/** How many deliveries the plan has left this month, and the effect on a replay that needs more. */
function AllowanceLine({ of: { left, suffices } }: { readonly of: Allowance }): ReactElement {
  if (left === 0)
    return (
      <p className="text-fail">
        The monthly delivery quota is used up. Postroad cannot replay until the next month begins (UTC) or the plan
        changes.
      </p>
    )
  if (suffices) return <p className="text-ink-3">{left.toLocaleString('en')} deliveries are left this month.</p>
  return (
    <p className="text-retry-text">
      Only {left.toLocaleString('en')} {left === 1 ? 'delivery is' : 'deliveries are'} left this month. The replay
      pauses when they are used up, and resumes automatically when more are available.
    </p>
  )
}
