import type { Decision, Failure } from '@postroad/contract'
import { encodeId, LIMITS } from '@postroad/contract/plain'
import { UNLIMITED } from '../../work-budget.ts'
import { compileConditions, type CompareMode } from '../condition.ts'
import type { EventSource } from '../event-path.ts'
import { explain } from '../explain.ts'
import type { Choosing, DecidingDestination, DecisionPlan } from './decision-plan.ts'
import type { StoredDecision } from './stored-decision.ts'
import { takesDataset } from '../takes-dataset.ts'

/** The values that conditions saw; undefined: they are no longer stored, so the reasons that need them are unknown. */
export type Seen = EventSource | undefined

/** A record of the event, in the order in which the event made them. */
export type ExplainedRecord = {
  readonly id: string
  /** undefined: the record is no longer stored. */
  readonly dataset: string | undefined
  readonly hops: number
  readonly seen: Seen
}

export type Explained = {
  readonly stored: StoredDecision
  readonly plan: DecisionPlan
  /** The values that the rules saw. */
  readonly event: Seen
  readonly records: readonly ExplainedRecord[]
}

/**
 * The whole decision: what matched is as stored, and every rule, destination and starter of the plan that did not match is
 * evaluated again for its reason.
 */
export function explainDecision({ stored, plan, event, records }: Explained): Decision {
  const { verified_scheme, criteria, items, customer } = stored
  const filed = records.map((record, at) => ({ ...record, dataset: record.dataset ?? datasetOf({ stored, plan }, at) }))
  const starts = filed.flatMap((record, at) => startsOf(record, { plan, started: startedOf(stored, at) }))
  return {
    ...(verified_scheme === undefined ? {} : { verified_scheme }),
    ...(criteria === undefined ? {} : { criteria }),
    ...(items === undefined ? {} : { items }),
    ...(stored.rules === undefined ? {} : { rules: rulesOf({ plan, event, filed: stored.rules, records }) }),
    ...(customer === undefined ? {} : { customer }),
    destinations: destinationsOf(stored, { plan, records: filed }),
    ...(starts.length === 0 ? {} : { starts }),
  }
}

/** The dataset of a record that is no longer stored, if a rule filed it. */
function datasetOf({ stored, plan }: Pick<Explained, 'stored' | 'plan'>, at: number): string | undefined {
  return plan.rules.find(({ id }) => encodeId('rule', id) === stored.rules?.[at])?.dataset
}

type Rules = NonNullable<Decision['rules']>

function rulesOf({
  plan,
  event,
  filed,
  records,
}: Pick<Explained, 'plan' | 'event' | 'records'> & { readonly filed: readonly string[] }): Rules {
  const placeOf = new Map(filed.map((id, at) => [id, at]))
  return plan.rules.map((rule) => {
    const named = { rule_id: encodeId('rule', rule.id), rule: rule.name }
    const at = placeOf.get(named.rule_id)
    if (at === undefined) return { ...named, matched: false, failed: reasonOf(rule, event, 'text'), record_id: null }
    return { ...named, matched: true, failed: null, record_id: records[at]?.id ?? null }
  })
}

type Considered = Decision['destinations'][number]

function destinationsOf(
  { customer, destinations }: StoredDecision,
  { plan, records }: Pick<Explained, 'plan' | 'records'>,
): Considered[] {
  const ofProject = plan.destinations.filter(({ customer_id }) => customer_id === null)
  const owned =
    customer === undefined ? [] : plan.destinations.filter(({ customer_id }) => customer_id === customer.customer_id)
  return records.flatMap((record, at) => {
    const matched = new Set(destinations[at])
    return [...ofProject, ...owned].map((destination) => consider(destination, { record, matched }))
  })
}

function consider(
  destination: DecidingDestination,
  { record, matched }: { readonly record: ExplainedRecord; readonly matched: ReadonlySet<string> },
): Considered {
  const { id, name, enabled, datasets } = destination
  const named = { destination_id: encodeId('destination', id), destination: name, record_id: record.id }
  if (matched.has(named.destination_id))
    return { ...named, matched: true, reason: enabled ? 'matched' : 'destination_disabled', failed: null }
  if (record.dataset !== undefined && !takesDataset(datasets, record.dataset))
    return { ...named, matched: false, reason: 'dataset_not_subscribed', failed: null }
  const failed = reasonOf(destination, record.seen, 'text')
  return { ...named, matched: false, reason: 'condition_failed', failed }
}

type Started = NonNullable<Decision['starts']>

const startedOf = ({ starts = [] }: StoredDecision, at: number): ReadonlyMap<string, string> =>
  new Map(starts.filter(([record]) => record === at).map(([, id, startedId]) => [id, startedId]))

function startsOf(
  record: ExplainedRecord,
  { plan, started }: { readonly plan: DecisionPlan; readonly started: ReadonlyMap<string, string> },
): Started {
  const listening = [
    ...plan.workflows.map((row) => ({ kind: 'workflow' as const, id: encodeId('workflow', row.id), row })),
    ...plan.triggers.map((row) => ({ kind: 'trigger' as const, id: encodeId('aiTrigger', row.id), row })),
  ]
  return listening
    .filter(({ row }) => row.dataset === record.dataset)
    .map(({ kind, id, row }) => {
      const named = { kind, id, name: row.name, record_id: record.id }
      const startedId = started.get(id)
      if (startedId !== undefined)
        return { ...named, matched: true, reason: 'matched', failed: null, started_id: startedId }
      const failed = reasonOf(row, record.seen, 'strict')
      const reason = failed === null && record.hops > LIMITS.hopsMax ? 'too_many_hops' : 'condition_failed'
      return { ...named, matched: false, reason, failed, started_id: null }
    })
}

function reasonOf({ conditions }: Pick<Choosing, 'conditions'>, seen: Seen, mode: CompareMode): Failure | null {
  if (seen === undefined) return null
  return explain(compileConditions(conditions, mode), { ...seen, budget: UNLIMITED })
}
