import type { CustomerPlace, Decision } from '@postroad/contract'
import { encodeId, LIMITS } from '@postroad/contract/plain'
import { compileCustomer } from '../../domain/capture/customer.ts'
import { receivedView, type Received } from '../../domain/capture/request-view.ts'
import type { RequestView } from '../../domain/routing/event-path.ts'
import { explain } from '../../domain/routing/explain.ts'
import { stringifyJson } from '../../domain/json/json-text.ts'
import type { StoredDecision } from '../../domain/routing/decision/stored-decision.ts'
import type { CompiledMappings } from '../../domain/routing/mapping.ts'
import { hasTooManyReasons } from '../../domain/routing/reasons.ts'
import { RecordTexts } from '../../domain/routing/record-texts.ts'
import type { Counting } from '../../domain/work-budget.ts'
import { reject, type Decided, type RecordDraft, type Rejected } from '../types.ts'
import { fanOut } from './fan-out.ts'
import type { Filing, Routing } from './routing.ts'
import { start } from './start.ts'

/** The parts of a verified event that decide where it goes. */
export type Routable = {
  readonly payload: unknown
  readonly text: string
  /** Whether the text is the body byte for byte. A record with the whole payload then does not store it twice. */
  readonly isBody: boolean
  readonly headers: Readonly<Record<string, string>>
  /** The rest of its request; null: no sender sent the event. */
  readonly sent: Omit<Received, 'headers'> | null
  readonly hops: number
  readonly use: 'webhook' | 'rules' | 'whole'
  readonly webhookId: string | undefined
  readonly ingestKeyId: string | undefined
  /** The dataset of the URL, when it names one. */
  readonly dataset: string | undefined
  /** The scheme of the signature that the ladder verified. */
  readonly scheme: Decision['verified_scheme']
  /** The customer of an event without a sender. */
  readonly customer: CustomerPlace | NamedCustomer
}

export type NamedCustomer = { readonly id: string | undefined }

type Means = { readonly uuid: () => string; readonly routing: Routing; readonly budget: Counting }
/** An event that is being filed, with the budget for its records. */
type Making = Means & {
  readonly event: Routable
  readonly request: RequestView | null
  readonly texts: RecordTexts
}
type Filed = {
  readonly records: readonly RecordDraft[]
  readonly decision: Pick<StoredDecision, 'criteria' | 'items' | 'rules'>
  readonly routed: Decided['routed']
  /** The event has more items than a decision has reasons. */
  readonly tooManyItems?: number
}

/**
 * Payload × settings → everything that one commit stores, or a refusal if that is too large. Pure except for the ids that it
 * gets. Throws `WorkUsedUp` when that needs more work than the budget has.
 */
export function decide(means: Means, event: Routable): Decided | Rejected {
  const { uuid, routing } = means
  const submissionId = uuid()
  const texts = new RecordTexts({
    payloadBytes: () => Buffer.byteLength(event.text),
    bytesMax: LIMITS.recordsOfEventBytesMax,
  })
  const request = event.sent === null ? null : receivedView({ headers: event.headers, ...event.sent })
  const filed = file({ ...means, event, request, texts })
  if (texts.tooLarge) return reject('records_too_large')
  if (filed.tooManyItems !== undefined) return reject('records_too_large', { text: tooManyItems(filed.tooManyItems) })
  const customer = customerOf(routing, { event, request })
  const owned = customer === undefined ? undefined : routing.ofCustomers?.get(customer)
  if (isTooMuch(routing, { filed, owned }))
    return reject('records_too_large', { text: tooManyReasons(filed.records.length) })
  const { deliveries, destinations } = fanOut(means, { records: filed.records, request, owned })
  const { starts, runs, started } = start(means, { hops: event.hops, records: filed.records, request })
  const decision: StoredDecision = {
    ...(event.scheme === undefined ? {} : { verified_scheme: event.scheme }),
    ...filed.decision,
    ...(customer === undefined ? {} : { customer: { customer_id: customer, known: owned !== undefined } }),
    plan: routing.planId,
    destinations,
    ...(started.length === 0 ? {} : { starts: started }),
  }
  return {
    submissionId,
    records: filed.records.map(({ id, dataset, data, isWhole }) => ({ id, dataset, data, isWhole })),
    deliveries,
    starts,
    runs,
    routed: filed.routed,
    decision: JSON.stringify(decision),
  }
}

function isTooMuch(
  { rules, destinations, workflows, triggers }: Routing,
  { filed, owned }: { readonly filed: Filed; readonly owned: Routing['destinations'] | undefined },
): boolean {
  return hasTooManyReasons({
    rules: filed.decision.rules === undefined ? (filed.decision.items?.length ?? 0) : rules.items.length,
    records: filed.records,
    destinations: destinations.items.length + (owned?.items.length ?? 0),
    starters: [workflows.items, triggers.items],
  })
}

const tooManyItems = (items: number): string =>
  `The endpoint makes a record of each item, and this event has ${items} items, more than ${LIMITS.reasonsOfEventMax}. Nothing was stored. Send fewer at once.`

const tooManyReasons = (records: number): string =>
  `This event has ${records} records, and every destination considers each of them. The decision would have more than ${LIMITS.reasonsOfEventMax} reasons, so nothing was stored. Send fewer items at once, turn off rules, or delete destinations, that you do not need.`

/**
 * The customer that the event names, in the place that its endpoint sets, otherwise its key, otherwise the origin that made it
 * (docs/adr/0275). An endpoint decides for its events, whichever URL they come by.
 */
function customerOf(
  { webhooks, ingestKeys }: Routing,
  { event, request }: Pick<Making, 'event' | 'request'>,
): string | undefined {
  const { headers, payload, webhookId, ingestKeyId, customer } = event
  const placed = { headers, payload, request }
  if (webhookId !== undefined) return webhooks.get(webhookId)?.customerOf?.(placed)
  if (ingestKeyId !== undefined) return ingestKeys.get(ingestKeyId)?.customerOf?.(placed)
  if (customer !== null && 'id' in customer) return customer.id
  return compileCustomer(customer)?.(placed)
}

/** Contract part 1, ingest rules 1 to 4: they decide how a payload is filed, and in which datasets. */
function file(making: Making): Filed {
  const { event, routing } = making
  switch (event.use) {
    case 'webhook':
      return fileByWebhook(making, routing.webhooks.get(event.webhookId ?? ''))
    case 'rules':
      return fileByRules(making)
    case 'whole':
      return {
        records: [draft(making, { dataset: event.dataset ?? '', mappings: undefined })],
        decision: {},
        routed: undefined,
      }
  }
}

function fileByWebhook(making: Making, webhook: Filing | undefined): Filed {
  const { event, request, budget } = making
  if (webhook === undefined) return { records: [], decision: {}, routed: undefined }
  const items = webhook.itemsOf?.(event.payload)
  if (items !== undefined) return fileItems(making, { webhook, items })
  const failed = explain(webhook.criteria, { payload: event.payload, request, budget })
  const decision = { criteria: { matched: failed === null, failed } }
  if (failed !== null) return { records: [], decision, routed: undefined }
  const record = draft(making, { dataset: event.dataset ?? webhook.dataset, mappings: webhook.mappings })
  return { records: [record], decision, routed: undefined }
}

/** Each item is routed as if it had come alone. */
function fileItems(
  making: Making,
  { webhook, items }: { readonly webhook: Filing; readonly items: readonly unknown[] },
): Filed {
  const { event, request, budget, texts } = making
  if (items.length > LIMITS.reasonsOfEventMax)
    return { records: [], decision: {}, routed: undefined, tooManyItems: items.length }
  const records: RecordDraft[] = []
  const decisions: NonNullable<Decision['items']>[number][] = []
  const dataset = event.dataset ?? webhook.dataset
  for (const [index, item] of items.entries()) {
    const failed = explain(webhook.criteria, { payload: item, request, budget })
    const record = failed === null ? draft(making, { dataset, mappings: webhook.mappings, item }) : undefined
    if (texts.tooLarge) break
    if (record !== undefined) records.push(record)
    const recordId = record === undefined ? null : encodeId('record', record.id)
    decisions.push({ index, matched: failed === null, failed, record_id: recordId })
  }
  return { records, decision: { items: decisions }, routed: undefined }
}

function fileByRules(making: Making): Filed {
  const { event, request, budget, routing } = making
  const records: RecordDraft[] = []
  const routed: { rule_id: string; rule: string; dataset: string; record_id: string }[] = []
  for (const rule of routing.rules.matching({
    dataset: undefined,
    source: { payload: event.payload, request },
    budget,
  })) {
    const record = draft(making, { dataset: rule.dataset, mappings: rule.mappings })
    records.push(record)
    const record_id = encodeId('record', record.id)
    routed.push({ rule_id: rule.publicId, rule: rule.name, dataset: rule.dataset, record_id })
  }
  return { records, decision: { rules: routed.map(({ rule_id }) => rule_id) }, routed }
}

/** The cost of each character of a record that a mapping makes, as in dry runs. */
const WRITE_WORK = 8

/** The text of a record without mappings; null: it is the body, byte for byte. */
function wholeOf({ isBody, text }: Routable, of: { readonly item?: unknown }): string | null {
  if ('item' in of) return stringifyJson(of.item)
  return isBody ? null : text
}

function draft(
  { uuid, event, request, texts, budget }: Making,
  { dataset, mappings, ...of }: { dataset: string; mappings: CompiledMappings | undefined; item?: unknown },
): RecordDraft {
  const isItem = 'item' in of
  const payload = isItem ? of.item : event.payload
  const made = (data: string | null, isCounted: boolean): string | null => {
    if (isCounted) budget.spend(WRITE_WORK * (data?.length ?? 0))
    if (data !== null) texts.add(data)
    return data
  }
  const mapped = mappings?.({ payload, request }, texts) ?? 'whole'
  // If the event is too large, nothing of it is stored.
  if (texts.tooLarge) return { id: uuid(), dataset, payload: undefined, data: null, isWhole: false }
  if (mapped === 'whole') {
    const data = made(wholeOf(event, of), isItem)
    return { id: uuid(), dataset, payload, data, isWhole: data !== null && !isItem }
  }
  const data = made(mapped.text ?? stringifyJson(mapped.data), true)
  return { id: uuid(), dataset, payload: mapped.data, data, isWhole: false }
}
