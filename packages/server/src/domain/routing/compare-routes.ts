import type { Conditions, Mappings, Split } from '@postroad/contract'
import { LIMITS } from '@postroad/contract/plain'
import type { AllowsIp } from '../ip-range.ts'
import { compileSplit, type ItemsOf } from '../capture/split.ts'
import { stringifyJson } from '../json/json-text.ts'
import { compileConditions, type CompareMode, type CompiledConditions } from './condition.ts'
import type { EventSource } from './event-path.ts'
import { explain } from './explain.ts'
import { compileMappings, type CompiledMappings } from './mapping.ts'
import { hasTooManyReasons } from './reasons.ts'
import { RecordTexts } from './record-texts.ts'
import type { Counting } from '../work-budget.ts'
import { takesDataset } from './takes-dataset.ts'

/** How one payload is routed by two configurations of a project: the current one and a planned one. */

type Filing = { readonly dataset: string; readonly mappings: Mappings }

export type EndpointRoute = Filing & {
  readonly slug: string
  /** The reason why it would refuse every request now; undefined: it would not. */
  readonly refuses: string | undefined
  /** undefined: any address. */
  readonly allowsIp: AllowsIp | undefined
  readonly criteria: Conditions
  /** The items that become records; null: a payload becomes one. */
  readonly split: Split
}
export type RuleRoute = Filing & { readonly name: string; readonly conditions: Conditions }
export type DestinationRoute = {
  readonly name: string
  readonly enabled: boolean
  readonly datasets: readonly string[] | null
  readonly conditions: Conditions
}
/** A workflow or an AI trigger that is active. */
export type StarterRoute = {
  readonly kind: 'workflow' | 'trigger'
  readonly name: string
  readonly dataset: string
  readonly conditions: Conditions
}
export type Routing = {
  readonly endpoints: ReadonlyMap<string, EndpointRoute>
  readonly rules: readonly RuleRoute[]
  readonly destinations: readonly DestinationRoute[]
  readonly starters: readonly StarterRoute[]
}

/** A stored payload, and the way in which it arrived. */
export type RoutedPayload = EventSource & {
  /** The length of its text. */
  readonly chars: number
  readonly sourceIp: string | undefined
  /** Whether it came through so many workflows and agents that its records start nothing. */
  readonly startsNothing: boolean
} & (
    | { readonly use: 'endpoint'; readonly webhookId: string; readonly datasetOfUrl: string | undefined }
    | { readonly use: 'rules' }
    | { readonly use: 'dataset'; readonly dataset: string }
  )

export type Filed = { readonly dataset: string; readonly by: string | null }
export type Sent = { readonly destination: string; readonly dataset: string; readonly paused: boolean }
export type Started = Pick<StarterRoute, 'kind' | 'name' | 'dataset'>
export type Differences<Of> = {
  readonly added: readonly Of[]
  readonly removed: readonly Of[]
  readonly changed: readonly Of[]
}
export type RouteDifference = {
  readonly refused_before: string | null
  readonly refused_after: string | null
  readonly records: Differences<Filed>
  readonly deliveries: Differences<Sent>
  readonly starts: Differences<Started>
}

/** The cost of each character that is read or written, as in dry runs. */
const READ_WORK = 8
const STEP_WORK = 64
/** The cost of compiling a condition or a mapping; a pattern costs more. */
const COMPILE_WORK = 1_024
const PATTERN_WORK = 65_536

/** Compares payload after payload. Parts that both configurations share are compiled once and evaluated once for a payload. */
export class RouteComparer {
  readonly #before: Routing
  readonly #after: Routing
  readonly #budget: Counting
  readonly #conditions = perMode<CompiledConditions>()
  readonly #mappings = new Map<Mappings, CompiledMappings>()

  constructor({
    before,
    after,
    budget,
  }: {
    readonly before: Routing
    readonly after: Routing
    readonly budget: Counting
  }) {
    this.#before = before
    this.#after = after
    this.#budget = budget
  }

  /** undefined: both configurations route it the same way. */
  differenceOf(of: RoutedPayload): RouteDifference | undefined {
    const known: Known = { matched: perMode(), mapped: new Map(), texts: new Map(), items: new Map() }
    const before = this.#routed(of, { routing: this.#before, known })
    const after = this.#routed(of, { routing: this.#after, known })
    const records = differences(before.records, after.records, RECORD_NAMES)
    const deliveries = differences(before.deliveries, after.deliveries, DELIVERY_NAMES)
    const starts = differences(before.starts, after.starts, START_NAMES)
    const isSame = [records, deliveries, starts].every(
      ({ added, removed, changed }) => added.length + removed.length + changed.length === 0,
    )
    if (isSame && before.refused === after.refused) return undefined
    return { refused_before: before.refused, refused_after: after.refused, records, deliveries, starts }
  }

  #routed(of: RoutedPayload, by: { readonly routing: Routing; readonly known: Known }): Outcome {
    const { routing, known } = by
    const texts = new RecordTexts({ payloadBytes: () => 3 * of.chars, bytesMax: LIMITS.recordsOfEventBytesMax })
    const refused = of.use === 'endpoint' ? refusalOf(routing.endpoints.get(of.webhookId), of.sourceIp) : undefined
    if (refused !== undefined) return refusedFor(refused)
    const records: OneRecord[] = []
    for (const filed of filersOf(of, routing)) {
      for (const one of itemsOf(filed, { of, known })) {
        if (!this.#matches(filed.conditions, { ...one, mode: 'text' })) continue
        records.push(this.#record({ one, texts, known }, filed))
        if (texts.tooLarge) return refusedFor('records_too_large')
      }
    }
    const { rules, destinations, starters } = routing
    const considering = { records, destinations: destinations.length, starters: [starters] }
    if (hasTooManyReasons({ ...considering, rules: of.use === 'rules' ? rules.length : 0 }))
      return refusedFor('records_too_large')
    const deliveries = this.#fannedOut(records, routing)
    return {
      refused: null,
      records,
      deliveries,
      starts: of.startsNothing ? [] : this.#started(records, routing),
    }
  }

  #record({ one, known, texts }: Filer, { dataset, by, mappings }: Filed & Filing): OneRecord {
    let mapped = one.mapped.get(mappings)
    if (mapped === undefined) {
      const compiled = this.#compiledMappings(mappings)
      this.#budget.spend(READ_WORK * one.chars)
      const made = compiled(one, texts)
      const text = texts.tooLarge ? '' : made === 'whole' ? one.text : (made.text ?? stringifyJson(made.data) ?? '')
      this.#budget.spend(READ_WORK * text.length)
      mapped = {
        payload: made === 'whole' ? one.payload : made.data,
        request: one.request,
        text,
        matched: perMode(),
      }
      // The other configuration must notice too that the record is too large.
      if (!texts.tooLarge) one.mapped.set(mappings, mapped)
    }
    texts.add(mapped.text)
    const data = known.texts.get(mapped.text) ?? known.texts.size
    known.texts.set(mapped.text, data)
    return { dataset, by, data, mapped }
  }

  #fannedOut(records: readonly OneRecord[], { destinations }: Routing): readonly OneDelivery[] {
    const deliveries: OneDelivery[] = []
    for (const { dataset, data, mapped } of records) {
      for (const { name: destination, enabled, datasets, conditions } of destinations) {
        this.#budget.spend(STEP_WORK)
        if (!takesDataset(datasets, dataset)) continue
        if (!this.#matches(conditions, { ...mapped, mode: 'text' })) continue
        deliveries.push({ destination, dataset, paused: !enabled, data })
      }
    }
    return deliveries
  }

  #started(records: readonly OneRecord[], { starters }: Routing): readonly OneStart[] {
    const starts: OneStart[] = []
    for (const { dataset, data, mapped } of records) {
      for (const { kind, name, dataset: of, conditions } of starters) {
        this.#budget.spend(STEP_WORK)
        if (of !== dataset) continue
        if (this.#matches(conditions, { ...mapped, mode: 'strict' })) starts.push({ kind, name, dataset, data })
      }
    }
    return starts
  }

  #matches(conditions: Conditions, { payload, request, matched, mode }: Asked): boolean {
    const found = matched[mode].get(conditions)
    if (found !== undefined) return found
    const compiled = this.#compiledConditions(conditions, mode)
    const holds = explain(compiled, { payload, request, budget: this.#budget }) === null
    matched[mode].set(conditions, holds)
    return holds
  }

  #compiledConditions(conditions: Conditions, mode: CompareMode): CompiledConditions {
    const found = this.#conditions[mode].get(conditions)
    if (found !== undefined) return found
    const patterns = conditions.filter((one) => 'op' in one && one.op === 'regex').length
    this.#budget.spend(COMPILE_WORK * (conditions.length + 1) + PATTERN_WORK * patterns)
    const compiled = compileConditions(conditions, mode)
    this.#conditions[mode].set(conditions, compiled)
    return compiled
  }

  #compiledMappings(mappings: Mappings): CompiledMappings {
    const found = this.#mappings.get(mappings)
    if (found !== undefined) return found
    this.#budget.spend(COMPILE_WORK * (mappings.length + 1))
    const compiled = compileMappings(mappings)
    this.#mappings.set(mappings, compiled)
    return compiled
  }
}

/** One value for each list of conditions and each way to compare: rules compare as text, workflows and AI triggers strictly. */
type PerMode<Value> = Readonly<Record<CompareMode, Map<Conditions, Value>>>
const perMode = <Value>(): PerMode<Value> => ({ text: new Map(), strict: new Map() })

/** The results of mappings for a payload, and of the conditions already evaluated. */
type Mapped = EventSource & { readonly text: string; readonly matched: PerMode<boolean> }
/** A payload, the results of conditions on it so far, and how they compare. */
type Asked = Pick<Mapped, 'payload' | 'request' | 'matched'> & { readonly mode: CompareMode }
/** The results for one payload that both configurations share. */
type Known = {
  readonly matched: PerMode<boolean>
  readonly mapped: Map<Mappings, Mapped>
  /** The number of each text of a record; the whole payload is the empty text. */
  readonly texts: Map<string, number>
  readonly items: Map<unknown, Item>
}
/** The payload, or an item of it, with its text as a record and the results so far. */
type Item = Pick<Known, 'matched' | 'mapped'> &
  EventSource & {
    readonly text: string
    readonly chars: number
  }
type Filer = { readonly one: Item; readonly known: Known; readonly texts: RecordTexts }
type OneRecord = Filed & { readonly data: number; readonly mapped: Mapped }
type OneDelivery = Sent & { readonly data: number }
type OneStart = Started & { readonly data: number }
type Outcome = {
  readonly refused: string | null
  readonly records: readonly OneRecord[]
  readonly deliveries: readonly OneDelivery[]
  readonly starts: readonly OneStart[]
}

const refusedFor = (refused: string): Outcome => ({ refused, records: [], deliveries: [], starts: [] })

function refusalOf(endpoint: EndpointRoute | undefined, sourceIp: string | undefined): string | undefined {
  if (endpoint === undefined) return 'endpoint_not_found'
  if (endpoint.allowsIp !== undefined && !endpoint.allowsIp(sourceIp)) return 'ip_not_allowed'
  return endpoint.refuses
}

/** The parts of the payload that the endpoint makes records of: its items, or the whole. */
function* itemsOf(
  { items: itemsIn }: { readonly items?: ItemsOf | undefined },
  { of, known }: { readonly of: RoutedPayload; readonly known: Known },
): Iterable<Item> {
  const items = itemsIn?.(of.payload)
  if (items === undefined) {
    const { payload, request, chars } = of
    yield { payload, request, text: '', chars, matched: known.matched, mapped: known.mapped }
    return
  }
  for (const payload of items) {
    const found = known.items.get(payload) ?? itemOf({ payload, request: of.request })
    known.items.set(payload, found)
    yield found
  }
}

function itemOf({ payload, request }: EventSource): Item {
  const text = stringifyJson(payload)
  return { payload, request, text, chars: text.length, matched: perMode(), mapped: new Map() }
}

/** Contract part 1, ingest rules 1 to 4: the endpoint or the rules that file a payload, with their datasets. */
function filersOf(
  of: RoutedPayload,
  { endpoints, rules }: Routing,
): readonly (Filed & Filing & { readonly conditions: Conditions; readonly items?: ItemsOf | undefined })[] {
  switch (of.use) {
    case 'dataset':
      return [{ dataset: of.dataset, by: null, conditions: NONE, mappings: WHOLE }]
    case 'rules':
      return rules.map(({ name, ...rule }) => ({ ...rule, by: name }))
    case 'endpoint': {
      const endpoint = endpoints.get(of.webhookId)
      if (endpoint === undefined) return []
      const { slug, dataset, criteria, mappings, split } = endpoint
      const own = { dataset, by: slug, conditions: criteria, mappings, items: compileSplit(split) }
      return [of.datasetOfUrl === undefined ? own : { ...own, dataset: of.datasetOfUrl }]
    }
  }
}

const NONE: Conditions = []
const WHOLE: Mappings = []

type Names<One, Shown> = {
  /** Two items with the same name are the same item, changed or not. */
  readonly name: (one: One) => string
  /** Two items with the same text here are equal. */
  readonly whole: (one: One) => string
  readonly shown: (one: One) => Shown
}

const RECORD_NAMES: Names<OneRecord, Filed> = {
  name: ({ dataset }) => dataset,
  whole: ({ dataset, data }) => `${dataset} ${data}`,
  shown: ({ dataset, by }) => ({ dataset, by }),
}
const DELIVERY_NAMES: Names<OneDelivery, Sent> = {
  name: ({ destination, dataset }) => `${dataset} ${destination}`,
  whole: ({ destination, dataset, paused, data }) => `${dataset} ${data} ${paused} ${destination}`,
  shown: ({ destination, dataset, paused }) => ({ destination, dataset, paused }),
}
const START_NAMES: Names<OneStart, Started> = {
  name: ({ kind, name, dataset }) => `${kind} ${dataset} ${name}`,
  whole: ({ kind, name, dataset, data }) => `${kind} ${dataset} ${data} ${name}`,
  shown: ({ kind, name, dataset }) => ({ kind, name, dataset }),
}

/** The elements that only one of two bags contains. */
function differences<One, Shown>(
  before: readonly One[],
  after: readonly One[],
  { name, whole, shown }: Names<One, Shown>,
): Differences<Shown> {
  const gone = unmatched(before, after, whole)
  const come = unmatched(after, before, whole)
  const added = new Set(unmatched(come, gone, name))
  return {
    removed: unmatched(gone, come, name).map(shown),
    added: [...added].map(shown),
    changed: come.filter((one) => !added.has(one)).map(shown),
  }
}

/** The items that have no counterpart left among the others. */
function unmatched<One>(items: readonly One[], others: readonly One[], keyOf: (one: One) => string): readonly One[] {
  const left = new Map<string, number>()
  for (const other of others) left.set(keyOf(other), (left.get(keyOf(other)) ?? 0) + 1)
  return items.filter((item) => {
    const count = left.get(keyOf(item)) ?? 0
    left.set(keyOf(item), count - 1)
    return count <= 0
  })
}
