import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { lazy, Suspense, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactElement } from 'react'
import { useCopy } from './copy.tsx'
import { isTree, linesOf, pathText, sizeOf, type JsonLine } from './json-lines.ts'
import { loaded } from './loaded.ts'
import { leafText, RawNumber, readJson } from '@postroad/contract/raw-number'

const Find = lazy(() => loaded(() => import('./json-find.tsx')))

type Props = {
  /** JSON as it was received. */
  readonly text: string
  readonly label: string
  /** The actions for a value, besides copying its path. */
  readonly onFilter?: ((path: string, op: 'equals' | 'not_equals', value: string) => void) | undefined
}

const LINE_PX = 20
/** Below this number of lines a person finds a value without a search. */
const FIND_LINES_MIN = 20

/** A payload as a tree. Only the lines in sight are in the page, and every value has actions. */
export function JsonTree({ text, label, onFilter }: Props): ReactElement {
  const parsed = useMemo(() => parse(text), [text])
  return 'value' in parsed ? (
    <Tree value={parsed.value} label={label} onFilter={onFilter} />
  ) : (
    <pre tabIndex={0} className="mono h-full overflow-auto p-4 text-data whitespace-pre-wrap break-all">
      {text}
    </pre>
  )
}

function parse(text: string): { readonly value: unknown } | { readonly broken: true } {
  try {
    return { value: readJson(text) }
  } catch {
    return { broken: true }
  }
}

function Tree({
  value,
  label,
  onFilter,
}: { readonly value: unknown } & Pick<Props, 'label' | 'onFilter'>): ReactElement {
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => new Set())
  const [at, setAt] = useState(-1)
  const lines = useMemo(() => linesOf(value, folded), [value, folded])
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 12,
  })
  const id = useId()
  const here = lines[at]
  const show = (index: number): void => {
    setAt(index)
    virtual.scrollToIndex(index)
    // A tree with its full height does not scroll. The panel around it does.
    document.getElementById(`${id}-${index}`)?.scrollIntoView({ block: 'nearest' })
  }
  const fold = (line: JsonLine): void => setFolded((before) => toggled(before, pathText(line.path)))
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      show(Math.max(0, Math.min(lines.length - 1, at + step)))
    } else if (
      ['ArrowLeft', 'ArrowRight', ' '].includes(event.key) &&
      here !== undefined &&
      isTree(here.value) &&
      sizeOf(here.value) > 0
    ) {
      fold(here)
    } else {
      return
    }
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="grid h-full grid-rows-[minmax(0,1fr)_auto]">
      <div
        ref={scroller}
        role="tree"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={here === undefined ? undefined : `${id}-${at}`}
        onKeyDown={onKey}
        className="mono overflow-auto py-2 text-data outline-offset-[-2px]"
      >
        <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const line = lines[item.index]
            return line === undefined ? null : (
              <div
                key={item.key}
                id={`${id}-${item.index}`}
                role="treeitem"
                aria-level={line.depth + 1}
                aria-selected={item.index === at}
                {...(line.kind === 'leaf' || line.kind === 'close' ? {} : { 'aria-expanded': line.kind === 'open' })}
                onPointerEnter={() => setAt(item.index)}
                onClick={() => line.kind !== 'leaf' && line.kind !== 'close' && fold(line)}
                style={{ transform: `translateY(${item.start}px)` }}
                className={`absolute inset-x-0 top-0 flex h-5 ${item.index === at ? 'bg-hover' : ''}`}
              >
                <span aria-hidden className="w-[34px] flex-none text-right text-label leading-5 text-ink-3">
                  {item.index + 1}
                </span>
                <span aria-hidden className="grid w-5 flex-none place-items-center text-ink-3">
                  {line.kind === 'open' ? (
                    <ChevronDown className="size-2.5" />
                  ) : line.kind === 'folded' ? (
                    <ChevronRight className="size-2.5" />
                  ) : null}
                </span>
                <LineText line={line} />
                {item.index === at && line.kind === 'leaf' && <Actions line={line} onFilter={onFilter} />}
              </div>
            )
          })}
        </div>
      </div>
      <div>
        {here !== undefined && <Place line={here} />}
        {lines.length >= FIND_LINES_MIN && (
          <Suspense>
            <Find label={label} lines={lines} go={show} />
          </Suspense>
        )}
      </div>
    </div>
  )
}

function toggled(before: ReadonlySet<string>, path: string): ReadonlySet<string> {
  const next = new Set(before)
  if (!next.delete(path)) next.add(path)
  return next
}

function LineText({ line: { depth, name, kind, value, last } }: { readonly line: JsonLine }): ReactElement {
  const list = Array.isArray(value)
  return (
    <span className="whitespace-pre text-ink-3" style={{ paddingLeft: depth * 16 }}>
      {name !== undefined && kind !== 'close' && (
        <>
          <span className="text-j-key">{name}</span>:{' '}
        </>
      )}
      {kind === 'open' && (list ? '[' : '{')}
      {kind === 'close' && (list ? ']' : '}')}
      {kind === 'folded' && isTree(value) && (list ? `[ ${sizeOf(value)} items ]` : `{ ${sizeOf(value)} fields }`)}
      {kind === 'leaf' && <Leaf value={value} />}
      {kind !== 'open' && !last && <span className="text-ink-4">,</span>}
    </span>
  )
}

const SHOWN_CHARS = 2_000

function Leaf({ value }: { readonly value: unknown }): ReactElement {
  if (typeof value === 'string')
    return (
      <span className="text-j-str">
        {JSON.stringify(value.slice(0, SHOWN_CHARS))}
        {value.length > SHOWN_CHARS && '…'}
      </span>
    )
  if (typeof value === 'number' || value instanceof RawNumber)
    return <span className="text-j-num">{leafText(value)}</span>
  if (isTree(value)) return <span>{Array.isArray(value) ? '[]' : '{}'}</span>
  return <span className="text-j-bool">{String(value)}</span>
}

const ACTION =
  'h-[18px] min-w-6 rounded-chip px-[7px] font-ui text-meta leading-[18px] font-control text-ink-2 hover:text-ink'

function Actions({ line, onFilter }: { readonly line: JsonLine; readonly onFilter: Props['onFilter'] }): ReactElement {
  const copy = useCopy()
  const path = pathText(line.path)
  const comparable = !isTree(line.value) && onFilter !== undefined && path !== ''
  return (
    <span className="sticky right-2.5 ml-auto flex h-5 items-center gap-px bg-surface pl-2">
      {comparable && (
        <button
          type="button"
          tabIndex={-1}
          className={`${ACTION} bg-accent-soft text-accent`}
          onClick={() => onFilter(path, 'equals', leafText(line.value))}
        >
          = only this
        </button>
      )}
      {comparable && (
        <button
          type="button"
          tabIndex={-1}
          className={ACTION}
          onClick={() => onFilter(path, 'not_equals', leafText(line.value))}
        >
          ≠ exclude
        </button>
      )}
      <button type="button" tabIndex={-1} className={ACTION} onClick={() => void copy(path, 'Path copied')}>
        copy path
      </button>
      {!isTree(line.value) && (
        <button
          type="button"
          tabIndex={-1}
          className={ACTION}
          onClick={() => void copy(leafText(line.value), 'Value copied')}
        >
          copy value
        </button>
      )}
    </span>
  )
}

/** The path and the type of the current value. */
function Place({ line: { path, value } }: { readonly line: JsonLine }): ReactElement {
  const type =
    value instanceof RawNumber ? 'number' : Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
  return (
    <footer className="mono flex h-[30px] items-center gap-1.5 overflow-hidden border-t border-line px-5 text-meta whitespace-nowrap text-ink-3">
      {path.map((step, index) => (
        <span key={index} className={index === path.length - 1 ? 'text-ink' : ''}>
          {index > 0 && <span className="pr-1.5 text-ink-3">›</span>}
          {step}
        </span>
      ))}
      <span className="ml-auto">{type}</span>
    </footer>
  )
}
