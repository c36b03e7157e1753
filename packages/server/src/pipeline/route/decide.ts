import { encodeId, LIMITS, type Decision } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { explain } from '../../domain/routing/explain.ts'
import { stringifyJson } from '../../domain/json/json-text.ts'
import type { CompiledMappings } from '../../domain/routing/mapping.ts'
import { RecordTexts } from '../../domain/routing/record-texts.ts'
import { reject, type Receiver, type RecordDraft, type Rejected, type Routed, type Verified } from '../types.ts'
import { fanOut } from './fan-out.ts'

type Ids = Pick<Deps, 'uuid'>
/** An event that is being filed, and the room for what it makes. */
type Filing = Ids & { readonly verified: Verified; readonly texts: RecordTexts }
type Filed = {
  readonly records: readonly RecordDraft[]
  readonly decision: Omit<Decision, 'destinations'>
  readonly routed: Routed['routed']
}

/** Payload × plan → everything that one commit stores, or the refusal of what it would be. Pure but for the ids it is handed. */
export function decide(ids: Ids, verified: Verified): Routed | Rejected {
  const { receiver } = verified
  const submissionId = ids.uuid()
  const texts = new RecordTexts({
    payloadBytes: () => Buffer.byteLength(verified.text),
    bytesMax: LIMITS.recordsOfEventBytesMax,
  })
  const filed = file({ uuid: ids.uuid, verified, texts })
  if (texts.tooLarge) return reject('records_too_large')
  const { deliveries, decisions } = fanOut(ids, { verified, records: filed.records })
  return {
    verified,
    submissionId,
    records: filed.records,
    deliveries,
    routed: filed.routed,
    decision: { ...verifiedBy(receiver), ...filed.decision, destinations: [...decisions] },
    dataset: receiver.use === 'rules' ? null : (receiver.dataset ?? receiver.webhook?.dataset ?? null),
  }
}

/** Whose signature the ladder found right: the endpoint's, else the key's; left out where none was asked for. */
function verifiedBy({ webhook, ingestKey }: Receiver): Pick<Decision, 'verified_scheme'> {
  const scheme = webhook?.settings.scheme ?? 'none'
  if (scheme !== 'none') return { verified_scheme: scheme }
  return ingestKey?.secrets === undefined ? {} : { verified_scheme: 'service_signature' }
}

/** Contract part 1, ingest rules 1 to 4: who files a payload, and where. */
function file(filing: Filing): Filed {
  const { receiver } = filing.verified
  switch (receiver.use) {
    case 'webhook':
      return fileByWebhook(filing)
    case 'rules':
      return fileByRules(filing)
    case 'whole':
      return {
        records: [draft(filing, { dataset: receiver.dataset ?? '', mappings: undefined })],
        decision: {},
        routed: undefined,
      }
  }
}

function fileByWebhook(filing: Filing): Filed {
  const { verified } = filing
  const { webhook, dataset } = verified.receiver
  if (webhook === undefined) return { records: [], decision: {}, routed: undefined }
  const failed = explain(webhook.criteria, verified.payload)
  const decision = { criteria: { matched: failed === null, failed } }
  if (failed !== null) return { records: [], decision, routed: undefined }
  const record = draft(filing, { dataset: dataset ?? webhook.dataset, mappings: webhook.mappings })
  return { records: [record], decision, routed: undefined }
}

function fileByRules(filing: Filing): Filed {
  const { verified } = filing
  const records: RecordDraft[] = []
  const routed: { rule_id: string; rule: string; dataset: string; record_id: string }[] = []
  const decisions = verified.receiver.plan.rules.map((rule) => {
    const failed = explain(rule.conditions, verified.payload)
    const named = { rule_id: rule.publicId, rule: rule.name }
    if (failed !== null) return { ...named, matched: false, failed, record_id: null }
    const record = draft(filing, { dataset: rule.dataset, mappings: rule.mappings })
    const recordId = encodeId('record', record.id)
    records.push(record)
    routed.push({ ...named, dataset: rule.dataset, record_id: recordId })
    return { ...named, matched: true, failed: null, record_id: recordId }
  })
  return { records, decision: { rules: decisions }, routed }
}

/** null: the record's payload is the submission's body letter by letter, so it is not stored twice. */
function whole({ body, text }: Verified): string | null {
  return body.length === Buffer.byteLength(text) && body.toString() === text ? null : text
}

function draft(
  { uuid, verified, texts }: Filing,
  { dataset, mappings }: { dataset: string; mappings: CompiledMappings | undefined },
): RecordDraft {
  const mapped = mappings?.(verified.payload, texts) ?? 'whole'
  // Nothing of an event that is too large is stored.
  if (texts.tooLarge) return { id: uuid(), dataset, payload: undefined, data: null }
  const data = mapped === 'whole' ? whole(verified) : (mapped.text ?? stringifyJson(mapped.data))
  if (data !== null) texts.add(data)
  return { id: uuid(), dataset, payload: mapped === 'whole' ? verified.payload : mapped.data, data }
}
