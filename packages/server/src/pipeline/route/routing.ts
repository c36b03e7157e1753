import { encodeId, type Conditions, type CustomerPlace, type Mappings, type Split } from '@postroad/contract'
import { compileCustomer, type CustomerOf } from '../../domain/capture/customer.ts'
import { compileOrderKey, type OrderKeyOf } from '../../domain/delivery/order-key.ts'
import { parseStoredJson, stringifyJson } from '../../domain/json/json-text.ts'
import { compileSplit, type ItemsOf } from '../../domain/capture/split.ts'
import { compileConditions, type CompiledConditions } from '../../domain/routing/condition.ts'
import { compileMappings, type CompiledMappings } from '../../domain/routing/mapping.ts'
import { createReader, shareText, type SharedText } from '../../platform/heavy/shared.ts'

/** The settings that route the events of a project, compiled. */
export type Routing = {
  readonly webhooks: ReadonlyMap<string, Filing>
  readonly ingestKeys: ReadonlyMap<string, Pick<Filing, 'customerOf'>>
  readonly rules: readonly RulePlan[]
  /** The destinations that the project owns. */
  readonly destinations: readonly DestinationPlan[]
  /** The destinations of customers, by the id with which events name their owner; undefined: there are none. */
  readonly ofCustomers: ReadonlyMap<string, readonly DestinationPlan[]> | undefined
  readonly workflows: readonly WorkflowPlan[]
  readonly triggers: readonly TriggerPlan[]
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
  readonly publicId: string
  readonly name: string
  readonly dataset: string
  readonly conditions: CompiledConditions
  readonly mappings: CompiledMappings
}

export type DestinationPlan = {
  readonly id: string
  readonly publicId: string
  readonly name: string
  readonly enabled: boolean
  readonly datasets: ReadonlySet<string> | null
  readonly conditions: CompiledConditions
  /** undefined: deliveries have no order. */
  readonly orderKeyOf: OrderKeyOf | undefined
}

/** An active workflow, as far as the road needs it: which records start it, and in which version. */
export type WorkflowPlan = {
  readonly id: string
  readonly publicId: string
  readonly name: string
  readonly version: number
  readonly dataset: string
  readonly conditions: CompiledConditions
}

/** An active AI trigger: the records on which it runs its agent. */
export type TriggerPlan = {
  readonly id: string
  readonly publicId: string
  readonly name: string
  readonly agentId: string
  readonly dataset: string
  readonly conditions: CompiledConditions
}

/** The same settings as rows. */
export type RoutingRows = {
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
type DestinationRow = Named & {
  readonly enabled: boolean
  readonly datasets: readonly string[] | null
  readonly order_path: string | null
  /** The id with which events name the customer who owns it; null: the project owns it. */
  readonly customer_id: string | null
  /** The datasets that the portal of the customer exposes; null: all. */
  readonly exposed: readonly string[] | null
}

export function compileRouting({ destinations, ...rows }: RoutingRows): Routing {
  return {
    webhooks: new Map(rows.webhooks.map((row) => [row.id, filingOf(row)])),
    ingestKeys: new Map(rows.ingestKeys.map(({ id, customer }) => [id, { customerOf: compileCustomer(customer) }])),
    rules: rows.rules.map(({ id, name, dataset, conditions, mappings }) => ({
      publicId: encodeId('rule', id),
      name,
      dataset,
      conditions: compileConditions(conditions, 'text'),
      mappings: compileMappings(mappings),
    })),
    destinations: destinations.filter((row) => row.customer_id === null).map(destinationOf),
    ofCustomers: destinationsOfCustomers(destinations),
    workflows: rows.workflows.map(({ id, name, version, entry_dataset: dataset, entry_conditions }) => ({
      id,
      publicId: encodeId('workflow', id),
      name,
      version,
      dataset,
      conditions: compileConditions(entry_conditions, 'strict'),
    })),
    triggers: rows.triggers.map(({ id, name, agent_id: agentId, dataset, conditions }) => ({
      id,
      publicId: encodeId('aiTrigger', id),
      name,
      agentId,
      dataset,
      conditions: compileConditions(conditions, 'strict'),
    })),
  }
}

export function filingOf({ dataset, criteria, mappings, split, customer }: FilingRow): Filing {
  return {
    dataset,
    criteria: compileConditions(criteria, 'text'),
    mappings: compileMappings(mappings),
    itemsOf: compileSplit(split),
    customerOf: compileCustomer(customer),
  }
}

function destinationOf(row: DestinationRow): DestinationPlan {
  return {
    id: row.id,
    publicId: encodeId('destination', row.id),
    name: row.name,
    enabled: row.enabled,
    datasets: subscribed(row),
    conditions: compileConditions(row.conditions, 'text'),
    orderKeyOf: row.order_path === null ? undefined : compileOrderKey(row.order_path),
  }
}

/** A customer receives only datasets that the portal still exposes, whatever the destination asks for. */
function subscribed({ datasets, exposed }: DestinationRow): ReadonlySet<string> | null {
  if (exposed === null) return datasets === null ? null : new Set(datasets)
  return new Set(datasets === null ? exposed : datasets.filter((name) => exposed.includes(name)))
}

function destinationsOfCustomers(
  rows: readonly DestinationRow[],
): ReadonlyMap<string, readonly DestinationPlan[]> | undefined {
  const owned = new Map<string, DestinationPlan[]>()
  for (const row of rows) {
    if (row.customer_id === null) continue
    const those = owned.get(row.customer_id) ?? []
    those.push(destinationOf(row))
    owned.set(row.customer_id, those)
  }
  return owned.size === 0 ? undefined : owned
}

/** The settings of a project for threads, which are made when a thread needs them. */
export class RoutingSource {
  /** Events with a text of this length need more work than the loop has for one event. */
  heavyFrom = Infinity
  readonly #uuid: () => string
  readonly #rows: RoutingRows
  #shared: SharedText | undefined

  constructor(uuid: () => string, rows: RoutingRows) {
    this.#uuid = uuid
    this.#rows = rows
  }

  /** Rows contain numbers that are stored as their source, so they are shared as JSON. */
  get shared(): SharedText {
    this.#shared ??= shareText(this.#uuid(), stringifyJson(this.#rows))
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
