import { decodeId, encodeId, type IdKind, type RouteOutput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { leftBehind } from '../../../domain/capture/request-id.ts'
import { refuse, Refusal } from '../../../domain/refusal.ts'
import { aiAgents } from '../../automation/ai-agents/index.ts'
import { aiRuns, listRuns, type AiRunRow, type RunFilter } from '../../automation/ai-runs/index.ts'
import { triggers } from '../../automation/triggers/index.ts'
import { listInstances, workflowInstances } from '../../automation/workflow-instances/index.ts'
import { workflows } from '../../automation/workflows/index.ts'
import { datasets } from '../../capture/datasets/index.ts'
import { ingestKeys } from '../../capture/ingest-keys/index.ts'
import { findRecordViewOwner } from '../../capture/record-views/index.ts'
import { listNewestRecords, listRecordsById, listWebhookRecords } from '../../capture/records/index.ts'
import { findRejection, type RejectionRow } from '../../capture/rejections/index.ts'
import { rules } from '../../capture/rules/index.ts'
import { findSubmission, listFiledBy, listRecordIdsFrom } from '../../capture/submissions/index.ts'
import { webhooks } from '../../capture/webhooks/index.ts'
import { findAttemptDelivery, findDelivery, listDeliveries, type DeliveryRow } from '../../delivery/deliveries/index.ts'
import { destinations } from '../../delivery/destinations/index.ts'
import { listCovered, replays } from '../../delivery/replays/index.ts'
import { cronTriggers } from '../../sources/cron-triggers/index.ts'
import { sources } from '../../sources/sources/index.ts'
import { wsTriggers } from '../../sources/ws-triggers/index.ts'

type Subject = RouteOutput<Routes['search']['correlate']>['subject']

/** The subject of an id: one submission, or the newest events of a configured resource. */
export type Named = {
  readonly subject: Subject
  readonly submissionId?: string
  readonly recordIds: readonly string[]
  /** undefined: the deliveries of the records. */
  readonly deliveries?: readonly DeliveryRow[]
  /** undefined: the AI runs on the records. */
  readonly runs?: readonly AiRunRow[]
  readonly rejection?: RejectionRow
}

/** The number of events shown for a resource. */
const NEWEST = 20
/** The number searched where no index leads from the resource to its events. */
const SCANNED_MAX = 500
const NEWEST_FROM = { limit: NEWEST, scannedMax: SCANNED_MAX }

const nothing = (): Refusal =>
  refuse(
    'not_found',
    'This project has nothing with this id, or no longer retains it. Use the id of an event, a delivery, an attempt, a rejection or a setting, or the Request-Id of an ingest request.',
  )

/** Throws the same refusal for a missing id, an id of another project, and a text that is not an id. */
export async function named(ctx: Ctx, text: string): Promise<Named> {
  const left = leftBehind(text)
  const found = left === undefined ? await byKind(ctx, text) : await ofRequest(ctx, left)
  if (found === undefined) throw nothing()
  return found
}

async function ofRequest(ctx: Ctx, id: string): Promise<Named | undefined> {
  return (await FINDERS.submission?.(ctx, id)) ?? FINDERS.rejection?.(ctx, id)
}

async function byKind(ctx: Ctx, text: string): Promise<Named | undefined> {
  for (const kind of KINDS) {
    const id = decodeId(kind, text)
    // oxlint-disable-next-line no-await-in-loop -- an id has one kind
    if (id !== undefined) return FINDERS[kind]?.(ctx, id)
  }
  return undefined
}

type Finder = (ctx: Ctx, id: string) => Promise<Named | undefined>
type Kind = Subject['kind']

const about = (kind: Kind, id: string, name: string | null = null): Subject => ({ kind, id: encodeId(kind, id), name })

/** undefined when a room throws not_found. */
async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined
    throw error
  }
}

const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id)
const recordIdsOf = (rows: readonly DeliveryRow[]): string[] => [...new Set(rows.map((row) => row.record_id))]

async function ofRecord(
  ctx: Ctx,
  { subject, id }: { subject: Subject; id: string | undefined },
): Promise<Named | undefined> {
  const row = id === undefined ? undefined : (await listRecordsById(ctx.db, { ...ctx, ids: [id] }))[0]
  return row === undefined ? undefined : { subject, submissionId: row.submission_id, recordIds: [row.id] }
}

async function ofDelivery(
  ctx: Ctx,
  { subject, id }: { subject: Subject; id: string | undefined },
): Promise<Named | undefined> {
  const row = id === undefined ? undefined : await findDelivery(ctx.db, { ...ctx, id })
  return ofRecord(ctx, { subject, id: row?.record_id })
}

async function ofWebhook(ctx: Ctx, { subject, id }: { subject: Subject; id: string }): Promise<Named> {
  return { subject, recordIds: idsOf(await listWebhookRecords(ctx.db, { ...ctx, webhookId: id, limit: NEWEST })) }
}

async function ofOrigin(ctx: Ctx, { subject, id }: { subject: Subject; id: string }): Promise<Named> {
  return { subject, recordIds: await listRecordIdsFrom(ctx.db, { ...ctx, ...NEWEST_FROM, from: { originId: id } }) }
}

async function ofRuns(
  ctx: Ctx,
  { subject, filter }: { readonly subject: Subject; readonly filter: Partial<RunFilter> },
): Promise<Named> {
  const any = { agentId: null, triggerId: null, recordIds: null, state: null, from: null, before: null }
  const runs = await listRuns(ctx.db, { ...ctx, ...any, ...filter, limit: NEWEST })
  return { subject, recordIds: [...new Set(runs.map((row) => row.record_id))], runs }
}

const FINDERS: Readonly<Partial<Record<Kind, Finder>>> = {
  submission: async (ctx, id) => {
    const row = await findSubmission(ctx.db, { ...ctx, id })
    return row === undefined
      ? undefined
      : { subject: about('submission', id), submissionId: id, recordIds: row.record_ids }
  },
  record: (ctx, id) => ofRecord(ctx, { subject: about('record', id), id }),
  delivery: (ctx, id) => ofDelivery(ctx, { subject: about('delivery', id), id }),
  attempt: async (ctx, id) =>
    ofDelivery(ctx, { subject: about('attempt', id), id: await findAttemptDelivery(ctx.db, { ...ctx, id }) }),
  rejection: async (ctx, id) => {
    const row = await findRejection(ctx.db, { ...ctx, id })
    return row === undefined ? undefined : { subject: about('rejection', id), recordIds: [], rejection: row }
  },
  webhook: async (ctx, id) => {
    const found = await orNothing(webhooks.get(ctx, { id }))
    return found && ofWebhook(ctx, { subject: about('webhook', id, found.webhook.name), id })
  },
  recordView: async (ctx, id) => {
    const found = await findRecordViewOwner(ctx.db, { ...ctx, id })
    return found && ofWebhook(ctx, { subject: about('recordView', id, found.name), id: found.webhook_id })
  },
  dataset: async (ctx, id) => {
    const found = await orNothing(datasets.get(ctx, { id }))
    if (found === undefined) return undefined
    const { name } = found.dataset
    const rows = await listNewestRecords(ctx.db, { ...ctx, dataset: name, limit: NEWEST })
    return { subject: about('dataset', id, name), recordIds: idsOf(rows) }
  },
  rule: async (ctx, id) => {
    const found = await orNothing(rules.get(ctx, { id }))
    if (found === undefined) return undefined
    const { dataset, name } = found.rule
    const rows = await listNewestRecords(ctx.db, { ...ctx, dataset, limit: SCANNED_MAX })
    const submissionIds = rows.map((row) => row.submission_id)
    const filed = await listFiledBy(ctx, { rule: encodeId('rule', id), submissionIds })
    return { subject: about('rule', id, name), recordIds: filed.toSorted().slice(-NEWEST) }
  },
  ingestKey: async (ctx, id) => {
    const found = await orNothing(ingestKeys.get(ctx, { id }))
    if (found === undefined) return undefined
    const recordIds = await listRecordIdsFrom(ctx.db, { ...ctx, ...NEWEST_FROM, from: { ingestKeyId: id } })
    return { subject: about('ingestKey', id, found.ingest_key.name), recordIds }
  },
  source: async (ctx, id) => {
    const found = await orNothing(sources.get(ctx, { id }))
    return found && ofOrigin(ctx, { subject: about('source', id, found.source.name), id })
  },
  cronTrigger: async (ctx, id) => {
    const found = await orNothing(cronTriggers.get(ctx, { id }))
    return found && ofOrigin(ctx, { subject: about('cronTrigger', id, found.cron_trigger.name), id })
  },
  wsTrigger: async (ctx, id) => {
    const found = await orNothing(wsTriggers.get(ctx, { id }))
    return found && ofOrigin(ctx, { subject: about('wsTrigger', id, found.ws_trigger.name), id })
  },
  destination: async (ctx, id) => {
    const found = await orNothing(destinations.get(ctx, { id }))
    if (found === undefined) return undefined
    const page = { state: null, recordIds: null, before: null, fromId: null, toId: null, limit: NEWEST }
    const rows = await listDeliveries(ctx.db, { ...ctx, ...page, destinationId: id, held: null })
    return { subject: about('destination', id, found.destination.name), recordIds: recordIdsOf(rows), deliveries: rows }
  },
  replay: async (ctx, id) => {
    if ((await orNothing(replays.get(ctx, { id }))) === undefined) return undefined
    const rows = await listCovered(ctx, { id, limit: NEWEST, scannedMax: SCANNED_MAX })
    return { subject: about('replay', id), recordIds: recordIdsOf(rows), deliveries: rows }
  },
  workflow: async (ctx, id) => {
    const found = await orNothing(workflows.get(ctx, { id }))
    if (found === undefined) return undefined
    const page = { recordIds: null, states: null, before: null, limit: NEWEST }
    const rows = await listInstances(ctx.db, { ...ctx, ...page, workflowId: id })
    const recordIds = [...new Set(rows.map((row) => row.record_id))]
    return { subject: about('workflow', id, found.workflow.name), recordIds }
  },
  workflowInstance: async (ctx, id) => {
    const found = await orNothing(workflowInstances.get(ctx, { id }))
    if (found === undefined) return undefined
    const { record_id, workflow } = found.instance
    const subject = about('workflowInstance', id, workflow)
    const record = decodeId('record', record_id)
    return (await ofRecord(ctx, { subject, id: record })) ?? { subject, recordIds: [] }
  },
  aiAgent: async (ctx, id) => {
    const found = await orNothing(aiAgents.get(ctx, { id }))
    return found && ofRuns(ctx, { subject: about('aiAgent', id, found.ai_agent.name), filter: { agentId: id } })
  },
  aiTrigger: async (ctx, id) => {
    const found = await orNothing(triggers.get(ctx, { id }))
    return found && ofRuns(ctx, { subject: about('aiTrigger', id, found.trigger.name), filter: { triggerId: id } })
  },
  aiRun: async (ctx, id) => {
    const found = await orNothing(aiRuns.get(ctx, { id }))
    if (found === undefined) return undefined
    const subject = about('aiRun', id)
    const record = decodeId('record', found.ai_run.record_id)
    return (await ofRecord(ctx, { subject, id: record })) ?? { subject, recordIds: [] }
  },
  project: async (ctx, id) => {
    if (id !== ctx.projectId) return undefined
    const rows = await listNewestRecords(ctx.db, { ...ctx, dataset: null, limit: NEWEST })
    return { subject: about('project', id), recordIds: idsOf(rows) }
  },
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its keys are kinds
const KINDS = Object.keys(FINDERS) as (Kind & IdKind)[]
