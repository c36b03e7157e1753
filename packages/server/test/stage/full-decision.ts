import assert from 'node:assert/strict'
import { encodeId, LIMITS, type Decision } from '@postroad/contract'
import { compileCustomer } from '../../src/domain/capture/customer.ts'
import { compileSplit } from '../../src/domain/capture/split.ts'
import { compileConditions } from '../../src/domain/routing/condition.ts'
import type { EventSource } from '../../src/domain/routing/event-path.ts'
import { explain } from '../../src/domain/routing/explain.ts'
import { compileMappings } from '../../src/domain/routing/mapping.ts'
import type { Routable } from '../../src/pipeline/route/decide.ts'
import type { RoutingRows } from '../../src/pipeline/route/routing.ts'
import type { Decided } from '../../src/pipeline/types.ts'

type Subject = { readonly event: Routable; readonly source: EventSource; readonly decided: Decided }

/**
 * The model of a decision: every rule, destination and starter one by one, each with its reason, without an index and without
 * anything stored. Ids come from the decision that it is compared with.
 */
export function fullDecision(rows: RoutingRows, of: Subject): Decision {
  const { event, source, decided } = of
  const { request } = source
  const filer = new Filer(of)
  const filed = filer.filed(rows)
  const customer = customerOf(rows, of)
  const owned = rows.destinations.filter(({ customer_id }) => customer_id !== null && customer_id === customer)
  const considering = [...rows.destinations.filter(({ customer_id }) => customer_id === null), ...owned]
  const destinations = filer.records.flatMap((record) =>
    considering.map((row) => considered(row, { record, source: { payload: record.payload, request } })),
  )
  const starts = filer.records.flatMap((record) => startsOf(rows, { record, event, request, decided }))
  return {
    ...(event.scheme === undefined ? {} : { verified_scheme: event.scheme }),
    ...filed,
    ...(customer === undefined ? {} : { customer: { customer_id: customer, known: owned.length > 0 } }),
    destinations,
    ...(starts.length === 0 ? {} : { starts }),
  }
}

function customerOf({ webhooks, ingestKeys }: RoutingRows, { event, source }: Subject): string | undefined {
  const { headers, webhookId, ingestKeyId } = event
  const sender =
    webhookId === undefined
      ? ingestKeys.find(({ id }) => id === ingestKeyId)
      : webhooks.find(({ id }) => id === webhookId)
  return compileCustomer(sender?.customer ?? null)?.({ headers, ...source })
}

/** Files an event, and lists its records. */
class Filer {
  readonly records: Filed[] = []
  readonly #of: Subject
  readonly #ids: Iterator<string>

  constructor(of: Subject) {
    this.#of = of
    this.#ids = of.decided.records.map(({ id }) => id).values()
  }

  filed({ rules, webhooks }: RoutingRows): Pick<Decision, 'criteria' | 'items' | 'rules'> {
    const { event, source } = this.#of
    if (event.use === 'rules') return { rules: rules.map((rule) => this.#byRule(rule)) }
    const webhook = webhooks.find(({ id }) => id === event.webhookId)
    if (webhook === undefined) {
      this.#file(event.dataset ?? '', { payload: event.payload, mappings: [] })
      return {}
    }
    const items = compileSplit(webhook.split)?.(event.payload)
    if (items !== undefined)
      return { items: items.map((payload, index) => ({ index, ...this.#byCriteria(webhook, { ...source, payload }) })) }
    const { matched, failed } = this.#byCriteria(webhook, source)
    return { criteria: { matched, failed } }
  }

  #byRule({ id, name, dataset, conditions, mappings }: Row): NonNullable<Decision['rules']>[number] {
    const { source } = this.#of
    const failed = explain(compileConditions(conditions, 'text'), source)
    const record_id = failed === null ? this.#file(dataset, { payload: source.payload, mappings }) : null
    return { rule_id: encodeId('rule', id), rule: name, matched: failed === null, failed, record_id }
  }

  #byCriteria({ criteria, dataset, mappings }: RoutingRows['webhooks'][number], source: EventSource) {
    const failed = explain(compileConditions(criteria, 'text'), source)
    const into = this.#of.event.dataset ?? dataset
    const record_id = failed === null ? this.#file(into, { payload: source.payload, mappings }) : null
    return { matched: failed === null, failed, record_id }
  }

  #file(
    dataset: string,
    { payload, mappings }: { readonly payload: unknown; readonly mappings: Row['mappings'] },
  ): string {
    const mapped = compileMappings(mappings)({ payload, request: this.#of.source.request })
    const { value: id } = this.#ids.next()
    assert.ok(typeof id === 'string', 'the decision has a record for each match')
    this.records.push({ id, dataset, payload: mapped === 'whole' ? payload : mapped.data })
    return encodeId('record', id)
  }
}

type Row = RoutingRows['rules'][number]
type Filed = { readonly id: string; readonly dataset: string; readonly payload: unknown }

function considered(
  { id, name, enabled, datasets, exposed, conditions }: RoutingRows['destinations'][number],
  { record, source }: { readonly record: Filed; readonly source: EventSource },
): Decision['destinations'][number] {
  const named = {
    destination_id: encodeId('destination', id),
    destination: name,
    record_id: encodeId('record', record.id),
  }
  if ([datasets, exposed].some((list) => list !== null && !list.includes(record.dataset)))
    return { ...named, matched: false, reason: 'dataset_not_subscribed', failed: null }
  const failed = explain(compileConditions(conditions, 'text'), source)
  if (failed !== null) return { ...named, matched: false, reason: 'condition_failed', failed }
  return { ...named, matched: true, reason: enabled ? 'matched' : 'destination_disabled', failed: null }
}

function startsOf(
  { workflows, triggers }: RoutingRows,
  {
    record,
    event,
    request,
    decided,
  }: {
    readonly record: Filed
    readonly event: Routable
    readonly request: EventSource['request']
    readonly decided: Decided
  },
): NonNullable<Decision['starts']> {
  const instanceOf = (id: string) =>
    decided.starts.find((one) => one.recordId === record.id && one.workflowId === id)?.id
  const runOf = (id: string) => decided.runs.find((one) => one.recordId === record.id && one.triggerId === id)?.id
  const listening = [
    ...workflows.map((row) => {
      const of = { kind: 'workflow' as const, id: encodeId('workflow', row.id), name: row.name }
      const started = instanceOf(row.id)
      const started_id = started === undefined ? null : encodeId('workflowInstance', started)
      return { of, started_id, dataset: row.entry_dataset, conditions: row.entry_conditions }
    }),
    ...triggers.map((row) => {
      const of = { kind: 'trigger' as const, id: encodeId('aiTrigger', row.id), name: row.name }
      const started = runOf(row.id)
      const started_id = started === undefined ? null : encodeId('aiRun', started)
      return { of, started_id, dataset: row.dataset, conditions: row.conditions }
    }),
  ]
  return listening
    .filter(({ dataset }) => dataset === record.dataset)
    .map(({ of, started_id, conditions }) => {
      const failed = explain(compileConditions(conditions, 'strict'), { payload: record.payload, request })
      const reason = failed !== null ? 'condition_failed' : event.hops > LIMITS.hopsMax ? 'too_many_hops' : 'matched'
      const record_id = encodeId('record', record.id)
      return { ...of, record_id, matched: reason === 'matched', reason, failed, started_id }
    })
}
