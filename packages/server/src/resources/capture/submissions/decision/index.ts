import { decodeId, Decision, encodeId } from '@postroad/contract'
import type { Ctx } from '../../../../context.ts'
import { parseStoredJson } from '../../../../domain/json/json-text.ts'
import { isStoredWhole, type StoredDecision } from '../../../../domain/routing/decision/stored-decision.ts'
import { explainingWorkOf, explainStored, type ExplainAsked } from '../../../../tasks/explain-decision.ts'
import { storedBodyOf } from '../../../../tasks/read-stored.ts'
import { listExplained } from '../../payloads/index.ts'
import { findPlan } from '../../routing-plans/index.ts'
import type { WholeSubmissionRow } from '../queries.ts'
import { listBodies } from '../scan/queries.ts'

type At = Pick<Ctx, 'db' | 'heavy' | 'workspaceId' | 'projectId'>
type Decided = Pick<WholeSubmissionRow, 'id' | 'record_ids' | 'decision'>

/** A decision as its submission stores it. */
export function storedDecision(text: string): Decision | StoredDecision {
  const parsed = parseStoredJson(text)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the ingest path wrote the text
  return (parsed.ok ? parsed.value : {}) as Decision | StoredDecision
}

/** The rules that filed the event, each with the id of its record. */
export function filedBy({
  decision,
  record_ids,
}: Omit<Decided, 'id'>): readonly (readonly [rule: string, id: string])[] {
  const stored = storedDecision(decision)
  if (!isStoredWhole(stored)) return (stored.rules ?? []).flatMap((rule, at) => pair(rule, record_ids[at]))
  const filed = stored.rules ?? []
  return filed.flatMap(({ rule_id, record_id }) =>
    pair(rule_id, record_id === null ? undefined : decodeId('record', record_id)),
  )
}

const pair = (rule: string, id: string | undefined): readonly (readonly [string, string])[] =>
  id === undefined ? [] : [[rule, id]]

/** The whole decision, with the reason of everything that did not match. */
export async function wholeDecision(ctx: At, row: Decided): Promise<Decision> {
  const stored = storedDecision(row.decision)
  if (isStoredWhole(stored)) return Decision.parse(stored)
  const { heavy, workspaceId } = ctx
  const input = await askedOf(ctx, { row, planId: stored.plan })
  const text = await heavy.run(explainStored, { workspaceId, input, work: explainingWorkOf(input) })
  return Decision.parse(storedDecision(text))
}

async function askedOf(
  ctx: At,
  { row, planId }: { readonly row: Decided; readonly planId: string },
): Promise<ExplainAsked> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId }
  const [plan, [body], records] = await Promise.all([
    findPlan(ctx, planId),
    listBodies(ctx.db, { ...at, ids: [row.id] }),
    listExplained(ctx.db, { ...at, recordIds: row.record_ids }),
  ])
  if (plan === undefined) throw new Error(`The plan ${planId} of the submission ${row.id} is not stored.`)
  const byId = new Map(records.map((record) => [record.id, record]))
  return {
    stored: row.decision,
    plan,
    body: body === undefined ? { body: '', headers: {} } : storedBodyOf(body),
    records: row.record_ids.map((id) => {
      const { dataset, hops = 0, data = null } = byId.get(id) ?? {}
      return { id: encodeId('record', id), dataset, hops, data }
    }),
  }
}
