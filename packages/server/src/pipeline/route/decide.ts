import { encodeId, type Decision } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { explain } from '../../domain/explain.ts'
import { stringifyJson } from '../../domain/json-text.ts'
import type { CompiledMappings } from '../../domain/mapping.ts'
import type { Receiver, RecordDraft, Routed, Verified } from '../types.ts'
import { fanOut } from './fan-out.ts'

type Ids = Pick<Deps, 'uuid'>
type Filed = { readonly records: readonly RecordDraft[]; readonly decision: Omit<Decision, 'destinations'>; readonly routed: Routed['routed'] }

/** Payload × plan → everything that one commit stores. Pure but for the ids it is handed. */
export function decide(ids: Ids, verified: Verified): Routed {
  const { receiver } = verified
  const submissionId = ids.uuid()
  const filed = file(ids, verified)
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
function file(ids: Ids, verified: Verified): Filed {
  switch (verified.receiver.use) {
    case 'webhook':
      return fileByWebhook(ids, verified)
    case 'rules':
      return fileByRules(ids, verified)
    case 'whole':
      return { records: [draft(ids, { dataset: verified.receiver.dataset ?? '', mappings: undefined, verified })], decision: {}, routed: undefined }
  }
}

function fileByWebhook(ids: Ids, verified: Verified): Filed {
  const { webhook, dataset } = verified.receiver
  if (webhook === undefined) return { records: [], decision: {}, routed: undefined }
  const failed = explain(webhook.criteria, verified.payload)
  const decision = { criteria: { matched: failed === null, failed } }
  if (failed !== null) return { records: [], decision, routed: undefined }
  const record = draft(ids, { dataset: dataset ?? webhook.dataset, mappings: webhook.mappings, verified })
  return { records: [record], decision, routed: undefined }
}

function fileByRules(ids: Ids, verified: Verified): Filed {
  const records: RecordDraft[] = []
  const routed: { rule_id: string; rule: string; dataset: string; record_id: string }[] = []
  const decisions = verified.receiver.plan.rules.map((rule) => {
    const failed = explain(rule.conditions, verified.payload)
    const named = { rule_id: rule.publicId, rule: rule.name }
    if (failed !== null) return { ...named, matched: false, failed, record_id: null }
    const record = draft(ids, { dataset: rule.dataset, mappings: rule.mappings, verified })
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

function draft(ids: Ids, from: { dataset: string; mappings: CompiledMappings | undefined; verified: Verified }): RecordDraft {
  const { dataset, mappings, verified } = from
  const mapped = mappings?.(verified.payload) ?? 'whole'
  if (mapped === 'whole') return { id: ids.uuid(), dataset, payload: verified.payload, data: whole(verified) }
  return { id: ids.uuid(), dataset, payload: mapped.data, data: stringifyJson(mapped.data) }
}
