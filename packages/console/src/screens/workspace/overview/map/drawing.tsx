import { clsx } from 'clsx'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useMemo, useRef, useState, type KeyboardEvent, type ReactElement } from 'react'
import { To, useGo } from '../../../../data/go.tsx'
import type { Span } from '../../../../parts/span.ts'
import { Glyph, type Tone } from '../../../../ui/glyph.tsx'
import { lineKey, traceOf, type Edge, type Graph, type Item } from './graph.ts'
import { kindWord } from './groups.ts'
import { layoutOf, NODE_HEIGHT, type Drawn, type Placed } from './layout.ts'
import type { Pulse, Pulses } from './use-pulses.ts'
import {
  eventsText,
  failShare,
  kindText,
  lineTarget,
  listOf,
  rateText,
  rateWords,
  targetOf,
  toneOf,
  troubleText,
} from './words.ts'

export type Shown = {
  readonly graph: Graph
  readonly span: Span
  /** How long the range is, for rates. */
  readonly minutes: number
  /** The map shows a selected time, for which it does not know the deliveries that were held back. */
  readonly isPast: boolean
  readonly pulses: Pulses
  readonly toggle: (group: string) => void
}

/** The map as a drawing. One stop of the Tab key: the arrow keys move between its nodes, and Enter opens the list behind one. */
export function Drawing({ shown, width }: { readonly shown: Shown; readonly width: number }): ReactElement {
  const { graph } = shown
  const layout = useMemo(() => layoutOf(graph, width), [graph, width])
  const [traced, setTraced] = useState<string | undefined>()
  const trace = useMemo(() => (traced === undefined ? undefined : traceOf(graph.edges, traced)), [graph, traced])
  const { box, at, setAt, onKeyDown } = useArrows(layout.placed)
  const first = layout.placed[0]?.item.key
  const isKnown = layout.placed.some(({ item }) => item.key === at)
  return (
    <div className="relative" style={{ height: layout.height }} ref={box}>
      <Lines drawn={layout.drawn.filter(({ isLong }) => isLong)} shown={shown} trace={trace} height={layout.height} />
      {layout.placed.map(({ item, x, y }) =>
        // A line that passes behind a node ends visibly before it.
        !IS_PASSED.has(item.kind) ? null : (
          <i
            key={item.key}
            aria-hidden
            className="absolute rounded-field bg-surface"
            style={{
              left: x - HALO,
              top: y - HALO,
              width: layout.nodeWidth + 2 * HALO,
              height: NODE_HEIGHT + 2 * HALO,
            }}
          />
        ),
      )}
      <Lines drawn={layout.drawn.filter(({ isLong }) => !isLong)} shown={shown} trace={trace} height={layout.height} />
      {layout.heads.map(({ label, x }) => (
        <span key={label} aria-hidden className="absolute top-0 text-label text-ink-3" style={{ left: x }}>
          {label}
        </span>
      ))}
      <ul aria-label="Nodes of the map">
        {layout.placed.map((placed) => (
          <NodeBox
            key={placed.item.key}
            placed={placed}
            width={layout.nodeWidth}
            shown={shown}
            isDim={trace !== undefined && !trace.has(placed.item.key)}
            isStop={placed.item.key === (isKnown ? at : first)}
            onKeyDown={onKeyDown}
            onAt={(isAt) => {
              setTraced(isAt ? placed.item.key : undefined)
              if (isAt) setAt(placed.item.key)
            }}
          />
        ))}
      </ul>
    </div>
  )
}

function useArrows(placed: readonly Placed[]) {
  const box = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<string | undefined>()
  const onKeyDown = (event: KeyboardEvent): void => {
    const here = placed.find(({ item }) => item.key === at) ?? placed[0]
    if (here === undefined) return
    const to = step(placed, { here, key: event.key })
    if (to === undefined) return
    event.preventDefault()
    setAt(to.item.key)
    box.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(to.item.key)}"]`)?.focus()
  }
  return { box, at, setAt, onKeyDown }
}

/** The node that an arrow key leads to: the next one of the column, or the nearest one of the column beside it. */
function step(
  placed: readonly Placed[],
  { here, key }: { readonly here: Placed; readonly key: string },
): Placed | undefined {
  const own = placed.filter(({ column }) => column === here.column)
  if (key === 'Home') return own[0]
  if (key === 'End') return own.at(-1)
  const down = { ArrowUp: -1, ArrowDown: 1 }[key]
  if (down !== undefined) return own[Math.max(0, Math.min(own.length - 1, here.row + down))]
  const across = { ArrowLeft: -1, ArrowRight: 1 }[key]
  if (across === undefined) return undefined
  return placed
    .filter(({ column }) => column === here.column + across)
    .toSorted((a, b) => Math.abs(a.y - here.y) - Math.abs(b.y - here.y))[0]
}

type NodeProps = {
  readonly placed: Placed
  readonly width: number
  readonly shown: Shown
  readonly isDim: boolean
  readonly isStop: boolean
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly onAt: (isAt: boolean) => void
}

function NodeBox({ placed: { item, x, y }, width, shown, isDim, isStop, onKeyDown, onAt }: NodeProps): ReactElement {
  const { span, isPast, toggle } = shown
  const [node] = item.nodes
  const look = clsx(
    'block size-full rounded-row border bg-surface px-2.5 text-left outline-offset-2 hover:border-ink-4 hover:bg-sunken',
    toneOf(item, isPast) === 'fail' ? 'border-fail/45' : 'border-line-2',
    item.type !== 'node' && 'border-dashed',
  )
  const label = sentenceOf(item, shown)
  const own = {
    'data-node': item.key,
    tabIndex: isStop ? 0 : -1,
    title: label,
    className: look,
    onKeyDown,
    onPointerEnter: () => onAt(true),
    onPointerLeave: () => onAt(false),
    onFocus: () => onAt(true),
    onBlur: () => onAt(false),
  }
  const face = (
    <>
      <span className="sr-only">{label}</span>
      <Face item={item} shown={shown} />
    </>
  )
  const target = item.type === 'rest' ? listOf(item.kind) : node === undefined ? undefined : targetOf(node, span)
  return (
    <li
      className={clsx('absolute transition-opacity', isDim && 'opacity-40')}
      style={{ left: x, top: y, width, height: NODE_HEIGHT }}
    >
      {item.type === 'group' ? (
        <button type="button" aria-expanded={item.isOpen} onClick={() => toggle(item.key)} {...own}>
          {face}
        </button>
      ) : (
        target !== undefined && (
          <To screen={target.screen} search={target.search} {...own}>
            {face}
          </To>
        )
      )}
    </li>
  )
}

function Face({ item, shown: { isPast, minutes } }: { readonly item: Item; readonly shown: Shown }): ReactElement {
  const trouble = troubleText(item, isPast)
  const tone = toneOf(item, isPast)
  const Arrow = item.isOpen ? ChevronDown : ChevronRight
  const also = trouble === '' ? kindText(item) : trouble
  return (
    <span aria-hidden className="grid h-full grid-cols-[12px_minmax(0,1fr)] content-center gap-x-1.5">
      <span className="grid place-items-center">
        {item.type === 'group' ? <Arrow className="size-3 text-ink-3" /> : <Glyph tone={tone} label="" />}
      </span>
      <span className="truncate leading-4 font-strong">{item.name}</span>
      <span className="col-start-2 truncate text-meta text-ink-3">
        {item.events > 0 && <span className="mono text-ink-2">{rateText(item.events, minutes)}</span>}
        {item.events > 0 && also !== '' && ' · '}
        <span className={trouble === '' ? undefined : TROUBLE_TEXT[tone]}>
          {item.events === 0 && also === '' ? 'no events' : also}
        </span>
      </span>
    </span>
  )
}

const TROUBLE_TEXT: Readonly<Record<Tone, string>> = {
  ok: 'text-ink-2',
  none: 'text-ink-2',
  sending: 'text-ink-2',
  paused: 'text-ink-2',
  rejected: 'text-ink-2',
  retry: 'text-retry-text',
  fail: 'text-fail',
}

function sentenceOf(item: Item, { isPast, minutes }: Shown): string {
  const trouble = troubleText(item, isPast)
  return [
    item.type === 'node' ? `${item.name}, ${kindWord(item.kind)}` : item.name,
    item.nodes[0]?.enabled === false && item.type === 'node' ? 'off' : '',
    item.events === 0 ? 'no events' : `${eventsText(item.events)}, ${rateWords(item.events, minutes)}`,
    trouble,
  ]
    .filter((part) => part !== '')
    .join('; ')
}

type LinesProps = {
  readonly drawn: readonly Drawn[]
  readonly shown: Shown
  readonly trace: ReadonlySet<string> | undefined
  readonly height: number
}

function Lines({ drawn, shown, trace, height }: LinesProps): ReactElement {
  const most = Math.max(1, ...shown.graph.edges.map(({ events }) => events ?? 0))
  const items = new Map(shown.graph.columns.flatMap((column) => column.items.map((item) => [item.key, item] as const)))
  const isTraced = ({ from, to }: Edge): boolean => trace !== undefined && trace.has(from) && trace.has(to)
  // Thin lines are drawn first, so that they hide no thick one.
  const inOrder = drawn.toSorted((a, b) => (a.edge.events ?? 0) - (b.edge.events ?? 0))
  return (
    <svg aria-hidden width="100%" height={height} className="absolute inset-0 overflow-visible">
      {inOrder.map((one) => (
        <Line
          key={one.edge.key}
          drawn={one}
          most={most}
          shown={shown}
          ends={[items.get(one.edge.from), items.get(one.edge.to)]}
          look={trace === undefined ? 'plain' : isTraced(one.edge) ? 'traced' : 'dim'}
        />
      ))}
    </svg>
  )
}

const HALO = 5
/** The kinds in the columns that other lines pass. */
const IS_PASSED: ReadonlySet<string> = new Set(['rule', 'workflow', 'ai_trigger'])
const THIN = 1.25
const THICK = 5.5

function widthOf(events: number | null, most: number): number {
  if (events === null || events === 0) return THIN
  return THIN + 0.5 + (THICK - THIN - 0.5) * Math.sqrt(events / most)
}

type Look = 'plain' | 'traced' | 'dim'

type LineProps = {
  readonly drawn: Drawn
  readonly most: number
  readonly shown: Shown
  readonly ends: readonly [Item | undefined, Item | undefined]
  readonly look: Look
}

/** The shortest part of a line that is red, in hundredths. */
const RED_MIN = 4

/** The part of a line that is red, in hundredths: the share of attempts at its destination that failed. */
function redOf({ events }: Edge, to: Item | undefined): number {
  const share = to?.kind === 'destination' && (events ?? 0) > 0 ? failShare(to) : 0
  return share === 0 ? 0 : Math.max(RED_MIN, share * 100)
}

function colorOf(
  { events }: Edge,
  { pulse, look }: { readonly pulse: Pulse | undefined; readonly look: Look },
): string {
  if (pulse?.isBad === false) return 'stroke-accent'
  if (look === 'traced') return 'stroke-ink-3'
  return events === 0 ? 'stroke-line-2' : 'stroke-bar'
}

/** A line is as thick as it has events. Its end is red for as long a part as the share of attempts that failed. */
function Line({ drawn: { edge, path, isBack }, most, shown, ends: [from, to], look }: LineProps): ReactElement {
  const width = widthOf(edge.events, most)
  const red = redOf(edge, to)
  const pulse = edge.lines.flatMap((line) => shown.pulses.get(lineKey(line)) ?? []).at(-1)
  const isFull = edge.events === 0 || look === 'traced' || pulse !== undefined
  return (
    <g
      data-line={edge.key}
      data-live={pulse === undefined ? undefined : ''}
      opacity={look === 'dim' ? 0.25 : 1}
      fill="none"
      strokeLinecap="round"
      className="transition-opacity"
    >
      <path
        d={path}
        strokeWidth={width}
        strokeDasharray={edge.configured ? (isBack ? '5 3' : undefined) : '2 4'}
        strokeOpacity={isFull ? 1 : 0.75}
        className={colorOf(edge, { pulse, look })}
      />
      {red > 0 && (
        <path
          d={path}
          pathLength={100}
          strokeWidth={width + 0.5}
          strokeLinecap="butt"
          strokeDasharray={`${red} 200`}
          strokeDashoffset={red - 100}
          className="stroke-fail"
        />
      )}
      {pulse !== undefined && (
        <path
          key={pulse.count}
          d={path}
          pathLength={100}
          strokeDasharray="6 200"
          strokeWidth={Math.max(3, width + 1)}
          className={clsx('animate-comet', pulse.isBad ? 'stroke-fail' : 'stroke-accent')}
        />
      )}
      <Touch edge={edge} path={path} span={shown.span} text={lineText(edge, { from, to, minutes: shown.minutes })} />
    </g>
  )
}

type TouchProps = { readonly edge: Edge; readonly path: string; readonly span: Span; readonly text: string }

/** The wide, invisible line that a pointer finds. The keyboard has the nodes and the table. */
function Touch({ edge, path, span, text }: TouchProps): ReactElement {
  const go = useGo()
  const [only, ...others] = edge.lines
  const target = only === undefined || others.length > 0 ? undefined : lineTarget(only, span)
  return (
    <path
      d={path}
      strokeWidth={14}
      stroke="transparent"
      className={target === undefined ? undefined : 'cursor-pointer'}
      onClick={() => target !== undefined && go(target.screen, target.search)}
    >
      <title>{text}</title>
    </path>
  )
}

type Between = { readonly from: Item | undefined; readonly to: Item | undefined; readonly minutes: number }

function lineText({ events, configured }: Edge, { from, to, minutes }: Between): string {
  const ends = `${from?.name ?? ''} → ${to?.name ?? ''}`
  if (events === null) return `${ends}: not counted separately from the other lines to ${to?.name ?? ''}`
  const amount = events === 0 ? 'no events' : `${eventsText(events)}, ${rateWords(events, minutes)}`
  return `${ends}: ${amount}${configured ? '' : '; the present settings send none'}`
}
