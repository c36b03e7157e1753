import { encodeId, LIMITS, type Decision } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { finish, type InTurns, type Spend } from '../../domain/in-turns.ts'
import { explain } from '../../domain/routing/explain.ts'
import { stringifyJson } from '../../domain/json/json-text.ts'
import type { CompiledMappings } from '../../domain/routing/mapping.ts'
import { hasTooManyReasons } from '../../domain/routing/reasons.ts'
import { RecordTexts } from '../../domain/routing/record-texts.ts'
import { PacedWork } from '../../platform/paced-work.ts'
import { reject, type Receiver, type RecordDraft, type Rejected, type Routed, type Verified } from '../types.ts'
import { fanOut } from './fan-out.ts'
import { start } from './start.ts'

type Ids = Pick<Deps, 'uuid'>
/** An event that is being filed, and the budgets for its records. */
type Filing = Ids & {
  readonly verified: Verified
  readonly texts: RecordTexts
  readonly spend: Spend
  readonly wholeData: () => string | null
}
type Filed = {
  readonly records: readonly RecordDraft[]
  readonly decision: Omit<Decision, 'destinations' | 'starts'>
  readonly routed: Routed['routed']
}

/**
 * Payload × plan → everything that one commit stores, or a refusal if that is too large. Pure except for the ids that it gets.
 * Many rules that search a long payload take many turns of the event loop, so other requests continue meanwhile.
 */
export function decide(ids: Ids, verified: Verified): Promise<Routed | Rejected> {
  return finish(deciding(ids, { verified, spend: new PacedWork(Infinity).spend }))
}

function* deciding(
  ids: Ids,
  { verified, spend }: { readonly verified: Verified; readonly spend: Spend },
): InTurns<Routed | Rejected> {
  const { receiver } = verified
  const submissionId = ids.uuid()
  const texts = new RecordTexts({
    payloadBytes: () => Buffer.byteLength(verified.text),
    bytesMax: LIMITS.recordsOfEventBytesMax,
  })
  const filed = yield* file({ uuid: ids.uuid, verified, texts, spend, wholeData: wholeDataOf(verified) })
  if (texts.tooLarge) return reject('records_too_large')
  const customer = customerOf(verified)
  const owned = customer === undefined ? undefined : receiver.plan.ofCustomers?.get(customer)
  if (isTooMuch(receiver.plan, { filed, owned }))
    return reject('records_too_large', { text: tooManyReasons(filed.records.length) })
  const { deliveries, decisions } = yield* fanOut(ids, { verified, records: filed.records, owned, spend })
  const { starts, runs, considered } = yield* start(ids, { verified, records: filed.records, spend })
  return {
    verified,
    submissionId,
    records: filed.records,
    deliveries,
    starts,
    runs,
    routed: filed.routed,
    decision: {
      ...verifiedBy(receiver),
      ...filed.decision,
      ...(customer === undefined ? {} : { customer: { customer_id: customer, known: owned !== undefined } }),
      destinations: [...decisions],
      ...(considered.length === 0 ? {} : { starts: [...considered] }),
    },
    dataset: receiver.use === 'rules' ? null : (receiver.dataset ?? receiver.webhook?.dataset ?? null),
  }
}

function isTooMuch(
  { destinations, workflows, triggers }: Verified['receiver']['plan'],
  { filed, owned }: { readonly filed: Filed; readonly owned: readonly unknown[] | undefined },
): boolean {
  return hasTooManyReasons({
    rules: filed.decision.rules?.length ?? 0,
    records: filed.records,
    destinations: destinations.length + (owned?.length ?? 0),
    starters: [workflows, triggers],
  })
}

const tooManyReasons = (records: number): string =>
  `The rules file this event into ${records} records, and every destination considers each of them. The decision would have more than ${LIMITS.reasonsOfEventMax} reasons, so nothing was stored. Turn off rules, or delete destinations, that you do not need.`

/**
 * The scheme of the signature that the ladder verified: the endpoint's, otherwise the key's. Absent where no signature
 * is required.
 */
function verifiedBy({ webhook, ingestKey }: Receiver): Pick<Decision, 'verified_scheme'> {
  const scheme = webhook?.settings.scheme ?? 'none'
  if (scheme !== 'none') return { verified_scheme: scheme }
  return ingestKey?.secrets === undefined ? {} : { verified_scheme: 'service_signature' }
}

/**
 * The customer that the event names, in the place that its endpoint sets, otherwise its key, otherwise the origin that made it
 * (docs/adr/0275). An endpoint decides for its events, whichever URL they come by.
 */
function customerOf({ receiver: { webhook, ingestKey }, captured, payload }: Verified): string | undefined {
  const of = webhook === undefined ? (ingestKey?.customerOf ?? captured.customerOf) : webhook.customerOf
  return of?.({ headers: captured.headers, payload })
}

/** Contract part 1, ingest rules 1 to 4: they decide how a payload is filed, and in which datasets. */
function* file(filing: Filing): InTurns<Filed> {
  const { receiver } = filing.verified
  switch (receiver.use) {
    case 'webhook':
      return yield* fileByWebhook(filing)
    case 'rules':
      return yield* fileByRules(filing)
    case 'whole':
      return {
        records: [draft(filing, { dataset: receiver.dataset ?? '', mappings: undefined })],
        decision: {},
        routed: undefined,
      }
  }
}

function* fileByWebhook(filing: Filing): InTurns<Filed> {
  const { verified, spend } = filing
  const { webhook, dataset } = verified.receiver
  if (webhook === undefined) return { records: [], decision: {}, routed: undefined }
  const failed = yield* explain(webhook.criteria, { payload: verified.payload, spend })
  const decision = { criteria: { matched: failed === null, failed } }
  if (failed !== null) return { records: [], decision, routed: undefined }
  const record = draft(filing, { dataset: dataset ?? webhook.dataset, mappings: webhook.mappings })
  return { records: [record], decision, routed: undefined }
}

function* fileByRules(filing: Filing): InTurns<Filed> {
  const { verified, spend } = filing
  const records: RecordDraft[] = []
  const routed: { rule_id: string; rule: string; dataset: string; record_id: string }[] = []
  const decisions: NonNullable<Decision['rules']>[number][] = []
  for (const rule of verified.receiver.plan.rules) {
    const failed = yield* explain(rule.conditions, { payload: verified.payload, spend })
    const named = { rule_id: rule.publicId, rule: rule.name }
    if (failed !== null) {
      decisions.push({ ...named, matched: false, failed, record_id: null })
      continue
    }
    const record = draft(filing, { dataset: rule.dataset, mappings: rule.mappings })
    const recordId = encodeId('record', record.id)
    records.push(record)
    routed.push({ ...named, dataset: rule.dataset, record_id: recordId })
    decisions.push({ ...named, matched: true, failed: null, record_id: recordId })
  }
  return { records, decision: { rules: decisions }, routed }
}

/**
 * The data of a record with the whole payload; null: it is the submission's body byte for byte, so it is not stored twice. The
 * comparison reads the whole body, so the records of an event share one.
 */
function wholeDataOf({ body, text }: Verified): () => string | null {
  let known: { readonly data: string | null } | undefined
  return () => {
    known ??= { data: body.length === Buffer.byteLength(text) && body.toString() === text ? null : text }
    return known.data
  }
}

function draft(
  { uuid, verified, texts, wholeData }: Filing,
  { dataset, mappings }: { dataset: string; mappings: CompiledMappings | undefined },
): RecordDraft {
  const mapped = mappings?.(verified.payload, texts) ?? 'whole'
  // If the event is too large, nothing of it is stored.
  if (texts.tooLarge) return { id: uuid(), dataset, payload: undefined, data: null }
  const data = mapped === 'whole' ? wholeData() : (mapped.text ?? stringifyJson(mapped.data))
  if (data !== null) texts.add(data)
  return { id: uuid(), dataset, payload: mapped === 'whole' ? verified.payload : mapped.data, data }
}
