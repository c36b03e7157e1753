import { parseStoredJson, stringifyJson } from '../domain/json/json-text.ts'
import { PLAN_KINDS, readPlan, type PlanKind } from '../domain/routing/decision/decision-plan.ts'
import { explainDecision, type ExplainedRecord } from '../domain/routing/decision/explain-decision.ts'
import type { StoredDecision } from '../domain/routing/decision/stored-decision.ts'
import type { EventSource, RequestView } from '../domain/routing/event-path.ts'
import { task } from '../platform/heavy/task.ts'
import { readStored, requestOf, type StoredBody } from './read-stored.ts'

export type ExplainAsked = {
  /** The decision as stored, as JSON. */
  readonly stored: string
  /** The contents of the parts of its plan. */
  readonly plan: Readonly<Record<PlanKind, readonly string[]>>
  readonly body: StoredBody
  readonly records: readonly (Omit<ExplainedRecord, 'seen'> & {
    /** Its payload; null: it is no longer stored. */
    readonly data: string | null
  })[]
}

/** The whole decision about a stored event, as JSON. */
export const explainStored = task('decision.explain', async (asked: ExplainAsked): Promise<string> => {
  const { plan } = asked
  const request = requestOf(asked.body)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the ingest path wrote it
  const stored = valueOf(asked.stored) as StoredDecision
  const decision = explainDecision({
    stored,
    plan: readPlan(plan),
    event: stored.rules === undefined ? undefined : await eventOf(asked.body, request),
    records: asked.records.map(({ data, ...record }) => ({
      ...record,
      seen: data === null ? undefined : { payload: valueOf(data), request },
    })),
  })
  return stringifyJson(decision)
})

/** How many characters it reads. */
export const explainingWorkOf = ({ plan, body, records }: ExplainAsked): number =>
  body.body.length +
  records.reduce((sum, { data }) => sum + (data?.length ?? 0), 0) +
  Math.max(1, records.length) * PLAN_KINDS.flatMap((kind) => plan[kind]).reduce((sum, { length }) => sum + length, 0)

async function eventOf(body: StoredBody, request: RequestView | null): Promise<EventSource | undefined> {
  const read = await readStored(body)
  return read.ok ? { payload: read.payload, request } : undefined
}

function valueOf(text: string): unknown {
  const parsed = parseStoredJson(text)
  return parsed.ok ? parsed.value : undefined
}
