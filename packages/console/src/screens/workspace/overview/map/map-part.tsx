import type { UseQueryResult } from '@tanstack/react-query'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useLayoutEffect, useMemo, useRef, useState, type ReactElement } from 'react'
import { useSearchState } from '../../../../data/go.tsx'
import type { Search } from '../../../../data/search-text.ts'
import { useTail } from '../../../../data/use-tail.ts'
import { spanText, type Span } from '../../../../parts/span.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { fullText } from '../../../../ui/moments.ts'
import { Views } from '../../../../ui/page.tsx'
import { Loading, Refused } from '../../../../ui/states.tsx'
import { Drawing, type Shown } from './drawing.tsx'
import { FlowList, FlowTable } from './flow-views.tsx'
import { flowsOf } from './flows.ts'
import { graphOf } from './graph.ts'
import { leastWidth } from './layout.ts'
import type { MapAnswer } from './map-answer.ts'
import { NO_PULSES, usePulses } from './use-pulses.ts'

const VIEWS = [
  { id: '', label: 'Map' },
  { id: 'table', label: 'Table' },
] as const

type Props = {
  readonly asked: UseQueryResult<{ readonly map: MapAnswer }>
  readonly rangeLabel: string
  readonly selected: Span | undefined
  readonly select: (span: Span | undefined) => void
  /** The step of the buttons that move through time. */
  readonly bucketMs: number
}

/** The project as a picture: who sends to whom, how much, and what fails or waits, now or at a selected time. */
export function MapPart(props: Props): ReactElement {
  const { asked } = props
  const { data, error } = asked
  return (
    <section aria-label="Map" className="border-b border-line px-[18px] py-5" aria-busy={asked.isPlaceholderData}>
      {data === undefined ? (
        error === null ? (
          <Loading rows={4} height={64} />
        ) : (
          <Refused error={error} again={asked.refetch} />
        )
      ) : (
        <Known {...props} map={data.map} />
      )}
    </section>
  )
}

type MapSearch = Search & { readonly map?: string }

function Known({ map, ...props }: Props & { readonly map: MapAnswer }): ReactElement {
  const [search, change] = useSearchState<MapSearch>()
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const graph = useMemo(() => graphOf(map, open), [map, open])
  const { box, width } = useWidth()
  const isList = width > 0 && width < leastWidth(graph.columns.length)
  const isPast = props.selected !== undefined
  const span = props.selected ?? { from: Date.parse(map.from), to: Date.parse(map.to) }
  const minutes = (span.to - span.from) / 60_000
  const flows = useMemo(
    () => flowsOf(map, { span: { from: span.from, to: span.to }, isPast }),
    [map, span.from, span.to, isPast],
  )
  const isTable = search.map === 'table'
  const toggle = (group: string): void =>
    setOpen((before) => new Set(before.has(group) ? [...before].filter((one) => one !== group) : [...before, group]))
  return (
    <div ref={box}>
      <div className="mb-4 flex min-h-7 flex-wrap items-center gap-x-4 gap-y-2">
        <h2 className="font-title">Map</h2>
        {!isList && (
          <Views
            of={VIEWS}
            at={isTable ? 'table' : ''}
            go={(id) => change({ map: id === '' ? undefined : id })}
            label="Form of the map"
          />
        )}
        <When {...props} />
      </div>
      <Notes map={map} isPast={isPast} />
      {map.lines.length === 0 ? (
        <p className="text-ink-3">Nothing is connected yet. Add an endpoint or a destination.</p>
      ) : isList ? (
        <FlowList flows={flows} minutes={minutes} />
      ) : isTable ? (
        <FlowTable flows={flows} minutes={minutes} />
      ) : (
        width > 0 && <Drawn graph={graph} span={span} minutes={minutes} isPast={isPast} width={width} toggle={toggle} />
      )}
    </div>
  )
}

type DrawnProps = Omit<Shown, 'pulses'> & { readonly width: number }

function Drawn({ width, ...shown }: DrawnProps): ReactElement {
  const pulses = usePulses()
  return <Drawing shown={{ ...shown, pulses: shown.isPast ? NO_PULSES : pulses }} width={width} />
}

function useWidth() {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const { current } = box
    if (current === null) return undefined
    const measure = (): void => setWidth(current.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return { box, width }
}

/** The time that the map shows, and the buttons that move it. */
function When({ rangeLabel, selected, select, bucketMs }: Props): ReactElement {
  const { status } = useTail()
  const isLive = selected === undefined && status === 'live'
  const move = (direction: -1 | 1): void => {
    const now = Math.floor(Date.now() / bucketMs) * bucketMs
    const { from, to } = selected ?? { from: now, to: now + bucketMs }
    const by = direction * (to - from)
    select(to + by > now + bucketMs ? undefined : { from: from + by, to: to + by })
  }
  return (
    <div className="ml-auto flex items-center gap-1.5 text-data text-ink-2">
      {isLive && (
        <span className="flex items-center gap-1.5 pr-2 font-control text-accent">
          <i aria-hidden className="size-2 rounded-full bg-accent" />
          Live
        </span>
      )}
      <IconButton label="Earlier" onClick={() => move(-1)}>
        <ChevronLeft strokeWidth={1.5} />
      </IconButton>
      <span role="status" className="min-w-24 text-center whitespace-nowrap">
        {selected === undefined ? rangeLabel : spanText(selected)}
      </span>
      <IconButton label="Later" onClick={() => move(1)} disabled={selected === undefined}>
        <ChevronRight strokeWidth={1.5} />
      </IconButton>
      {selected !== undefined && <Button onClick={() => select(undefined)}>Back to now</Button>}
    </div>
  )
}

/** The limits of what the map knows. */
function Notes({ map, isPast }: { readonly map: MapAnswer; readonly isPast: boolean }): ReactElement | null {
  const { lines_since, lines_left_out, from } = map
  const isOlder = lines_since !== null && Date.parse(from) < Date.parse(lines_since)
  const notes = [
    ...(isPast ? ['The counts are those of this time. The connections are those of now.'] : []),
    ...(isOlder ? [`Lines have counts from ${fullText(lines_since)} on.`] : []),
    ...(lines_left_out > 0 ? [`${lines_left_out.toLocaleString('en')} lines with few events are not drawn.`] : []),
  ]
  return notes.length === 0 ? null : <p className="-mt-2 mb-3 text-data text-ink-3">{notes.join(' ')}</p>
}
