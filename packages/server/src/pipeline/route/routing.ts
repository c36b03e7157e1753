import type { Conditions, CustomerPlace, Mappings, Split } from '@postroad/contract'
import { encodeId } from '@postroad/contract/plain'
import { compileCustomer, type CustomerOf } from '../../domain/capture/customer.ts'
import { compileOrderKey, type OrderKeyOf } from '../../domain/delivery/order-key.ts'
import { parseStoredJson, stringifyJson } from '../../domain/json/json-text.ts'
import { compileSplit, type ItemsOf } from '../../domain/capture/split.ts'
import type { DecidingDestination } from '../../domain/routing/decision/decision-plan.ts'
import { compileConditions, type CompiledConditions } from '../../domain/routing/condition.ts'
import { compileMappings, type CompiledMappings } from '../../domain/routing/mapping.ts'
import { MatchIndex } from '../../domain/routing/match-index.ts'
import { createReader, shareText, type SharedText } from '../../platform/heavy/shared.ts'
import { takesDataset } from '../../domain/routing/takes-dataset.ts'

/** The settings that route the events of a project, compiled. */
export type Routing = {
  readonly webhooks: ReadonlyMap<string, Filing>
  readonly ingestKeys: ReadonlyMap<string, Pick<Filing, 'customerOf'>>
  readonly rules: MatchIndex<RulePlan>
  /** The destinations that the project owns. */
  readonly destinations: MatchIndex<DestinationPlan>
  /** The destinations of customers, by the id with which events name their owner; undefined: there are none. */
  readonly ofCustomers: ReadonlyMap<string, MatchIndex<DestinationPlan>> | undefined
  readonly workflows: MatchIndex<WorkflowPlan>
  readonly triggers: MatchIndex<TriggerPlan>
  /** The id under which the settings are stored, for the reasons of decisions. */
  readonly planId: string
}

/** How an endpoint files its events. */
export type Filing = {
  readonly dataset: string
  readonly criteria: CompiledConditions
  readonly mappings: CompiledMappings
  /** undefined: an event makes one record. */
  readonly itemsOf: ItemsOf | undefined
  /** undefined: its events name no customer. */
  readonly customerOf: CustomerOf | undefined
}

export type RulePlan = {
  readonly id: string
  readonly publicId: string
  readonly name: string
  readonly dataset: string
  readonly conditions: CompiledConditions
  readonly mappings: CompiledMappings
}

export type DestinationPlan = {
  readonly id: string
  readonly publicId: string
  readonly enabled: boolean
  readonly datasets: ReadonlySet<string> | null
  readonly conditions: CompiledConditions
  /** undefined: deliveries have no order. */
  readonly orderKeyOf: OrderKeyOf | undefined
  /** The id with which events name the customer who owns it; null: the project owns it. */
  readonly customer: string | null
}

/** An active workflow, as far as the road needs it: which records start it, and in which version. */
export type WorkflowPlan = {
  readonly id: string
  readonly publicId: string
  readonly version: number
  readonly dataset: string
  readonly datasets: ReadonlySet<string>
  readonly conditions: CompiledConditions
}

/** An active AI trigger: the records on which it runs its agent. */
export type TriggerPlan = {
  readonly id: string
  readonly publicId: string
  readonly agentId: string
  readonly dataset: string
  readonly datasets: ReadonlySet<string>
  readonly conditions: CompiledConditions
}

/** The same settings as rows. */
export type RoutingRows = {
  readonly planId: string
  readonly webhooks: readonly (FilingRow & { readonly id: string })[]
  readonly ingestKeys: readonly { readonly id: string; readonly customer: CustomerPlace }[]
  readonly rules: readonly (Named & { readonly dataset: string; readonly mappings: Mappings })[]
  readonly destinations: readonly DestinationRow[]
  readonly workflows: readonly {
    readonly id: string
    readonly name: string
    readonly version: number
    readonly entry_dataset: string
    readonly entry_conditions: Conditions
  }[]
  readonly triggers: readonly (Named & { readonly dataset: string; readonly agent_id: string })[]
}

type Named = { readonly id: string; readonly name: string; readonly conditions: Conditions }
type FilingRow = {
  readonly dataset: string
  readonly criteria: Conditions
  readonly mappings: Mappings
  readonly split: Split
  readonly customer: CustomerPlace
}
export type DestinationRow = Named & {
  readonly enabled: boolean
  readonly datasets: readonly string[] | null
  readonly order_path: string | null
  /** The id with which events name the customer who owns it; null: the project owns it. */
  readonly customer_id: string | null
  /** The datasets that the portal of the customer exposes; null: all. */
  readonly exposed: readonly string[] | null
}

/** `destinations`: those of the rows, compiled before. */
export function compileRouting(
  rows: RoutingRows,
  destinations: readonly DestinationPlan[] = rows.destinations.map(destinationOf),
): Routing {
  return {
    webhooks: new Map(rows.webhooks.map((row) => [row.id, filingOf(row)])),
    ingestKeys: new Map(rows.ingestKeys.map(({ id, customer }) => [id, { customerOf: compileCustomer(customer) }])),
    rules: new MatchIndex(rows.rules.map(ruleOf)),
    destinations: new MatchIndex(destinations.filter(({ customer }) => customer === null)),
    ofCustomers: destinationsOfCustomers(destinations),
    workflows: new MatchIndex(rows.workflows.map(workflowOf)),
    triggers: new MatchIndex(rows.triggers.map(triggerOf)),
    planId: rows.planId,
  }
}

const ruleOf = ({ id, name, dataset, conditions, mappings }: RoutingRows['rules'][number]): RulePlan => ({
  id,
  publicId: encodeId('rule', id),
  name,
  dataset,
  conditions: compileConditions(conditions, 'text'),
  mappings: compileMappings(mappings),
})

const workflowOf = (row: RoutingRows['workflows'][number]): WorkflowPlan => ({
  id: row.id,
  publicId: encodeId('workflow', row.id),
  version: row.version,
  dataset: row.entry_dataset,
  datasets: new Set([row.entry_dataset]),
  conditions: compileConditions(row.entry_conditions, 'strict'),
})

const triggerOf = (row: RoutingRows['triggers'][number]): TriggerPlan => ({
  id: row.id,
  publicId: encodeId('aiTrigger', row.id),
  agentId: row.agent_id,
  dataset: row.dataset,
  datasets: new Set([row.dataset]),
  conditions: compileConditions(row.conditions, 'strict'),
})

export function filingOf({ dataset, criteria, mappings, split, customer }: FilingRow): Filing {
  return {
    dataset,
    criteria: compileConditions(criteria, 'text'),
    mappings: compileMappings(mappings),
    itemsOf: compileSplit(split),
    customerOf: compileCustomer(customer),
  }
}

export function destinationOf(row: DestinationRow): DestinationPlan {
  return {
    id: row.id,
    publicId: encodeId('destination', row.id),
    enabled: row.enabled,
    datasets: subscribed(row),
    conditions: compileConditions(row.conditions, 'text'),
    orderKeyOf: row.order_path === null ? undefined : compileOrderKey(row.order_path),
    customer: row.customer_id,
  }
}

/** A customer receives only datasets that the portal still exposes, whatever the destination asks for. */
function subscribed({ datasets, exposed }: DestinationRow): ReadonlySet<string> | null {
  if (exposed === null) return datasets === null ? null : new Set(datasets)
  return new Set((datasets ?? exposed).filter((name) => takesDataset(datasets, name) && exposed.includes(name)))
}

function destinationsOfCustomers(
  destinations: readonly DestinationPlan[],
): ReadonlyMap<string, MatchIndex<DestinationPlan>> | undefined {
  const owned = new Map<string, DestinationPlan[]>()
  for (const destination of destinations) {
    if (destination.customer === null) continue
    const those = owned.get(destination.customer) ?? []
    those.push(destination)
    owned.set(destination.customer, those)
  }
  if (owned.size === 0) return undefined
  return new Map([...owned].map(([customer, those]) => [customer, new MatchIndex(those)]))
}

/** The settings of a destination that the reasons of a decision follow from. */
export const decidingOf = (row: DestinationRow): DecidingDestination => {
  const datasets = subscribed(row)
  return { ...row, datasets: datasets === null ? null : [...datasets] }
}

/** The settings of a project for threads, which are made when a thread needs them. */
export class RoutingSource {
  /** Events with a text of this length need more work than the loop has for one event. */
  heavyFrom = Infinity
  readonly #uuid: () => string
  readonly #rows: () => RoutingRows
  #shared: SharedText | undefined

  constructor(uuid: () => string, rows: () => RoutingRows) {
    this.#uuid = uuid
    this.#rows = rows
  }

  /** Rows contain numbers that are stored as their source, so they are shared as JSON. */
  get shared(): SharedText {
    this.#shared ??= shareText(this.#uuid(), stringifyJson(this.#rows()))
    return this.#shared
  }
}

/** The settings of a project in a thread. */
export const readRouting = createReader((text) => {
  const parsed = parseStoredJson(text)
  if (!parsed.ok) throw new Error(`The settings are not JSON: ${parsed.error}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `RoutingSource`
  return compileRouting(parsed.value as RoutingRows)
})
