import { NIL, type FlowSums } from '../rollups/index.ts'
import { keyOf, type Drawn, type Part, type Parts } from './parts.ts'

type Line = Drawn['lines'][number]
export type End = Line['from']

/** The lines between ends. All parts that are left out share one end for their kind, so the number of lines is bounded. */
export class Lines {
  /** By their end and by their start, because a project may have as many flows as lines. */
  readonly #into = new Map<string, Map<string, Line>>()
  readonly #parts: Parts
  readonly #shown: ReadonlySet<string>

  constructor(parts: Parts, shown: ReadonlySet<string>) {
    this.#parts = parts
    this.#shown = shown
  }

  end(part: Part): End {
    const { kind, id } = part.node
    return { kind, id: this.#shown.has(keyOf(kind, id)) ? id : null }
  }

  find(kind: string, id: string): Part | undefined {
    return this.#parts.get(keyOf(kind, id))
  }

  configure(from: End, to: End): void {
    this.#put(from, to, { events: 0, configured: true })
  }

  // oxlint-disable-next-line max-params -- both ends, and the line between them
  #put(from: End, to: End, { events, configured }: Pick<Line, 'events' | 'configured'>): void {
    const lines = this.#into.get(endKey(to)) ?? new Map<string, Line>()
    this.#into.set(endKey(to), lines)
    const line = lines.get(endKey(from))
    lines.set(endKey(from), {
      from,
      to,
      events: (line?.events ?? 0) + (events ?? 0),
      configured: configured || (line?.configured ?? false),
    })
  }

  /** Adds counted events to their lines. Parts that are deleted have no lines. */
  flow({ way, node_kind, node_id, rule_id, dataset, events }: FlowSums): void {
    const [node, set] = [this.find(node_kind, node_id), this.find('dataset', dataset)]
    if (node === undefined || set === undefined) return
    const [end, hub] = [this.end(node), this.end(set)]
    if (way === 'out') this.#out(hub, end, { events, isCustomers: node.is_customers })
    if (way !== 'in') return
    const rule = rule_id === NIL ? undefined : this.find('rule', rule_id)
    // A sender may name another dataset in the URL.
    const configured = node_kind === 'ingest_key' || node_kind === 'webhook'
    if (rule === undefined) return this.#put(end, hub, { events, configured: configured && rule_id === NIL })
    this.#put(end, this.end(rule), { events, configured: false })
    this.#put(this.end(rule), hub, { events, configured: false })
  }

  /** A destination that does not take the dataset got its deliveries from a workflow. They go over its line if there is only one. */
  // oxlint-disable-next-line max-params -- both ends, and the flow between them
  #out(hub: End, end: End, { events, isCustomers }: { readonly events: number; readonly isCustomers: boolean }): void {
    if (end.kind === 'destination' && this.#find(hub, end)?.configured !== true && !isCustomers) {
      const workflows = this.into(end).filter(({ from }) => from.kind === 'workflow')
      const [one] = workflows
      if (one !== undefined && workflows.length === 1) return this.#put(one.from, end, { events, configured: true })
    }
    this.#put(hub, end, { events, configured: isCustomers })
  }

  #find(from: End, to: End): Line | undefined {
    return this.#into.get(endKey(to))?.get(endKey(from))
  }

  into(end: End): readonly Line[] {
    return [...(this.#into.get(endKey(end))?.values() ?? [])]
  }

  all(): readonly Line[] {
    return [...this.#into.values()]
      .flatMap((lines) => [...lines.values()])
      .map((line) => (this.#isShared(line) ? { ...line, events: null } : line))
  }

  /** The counts do not separate the deliveries of this workflow from those of another line to the destination. */
  #isShared({ from, to, events }: Line): boolean {
    if (from.kind !== 'workflow' || to.kind !== 'destination' || events !== 0) return false
    return this.into(to).some((line) => line.events !== 0 && line.from.kind === 'dataset')
  }
}

const endKey = ({ kind, id }: End): string => keyOf(kind, id ?? '')
