import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { Differences, RouteDifference } from '../../../domain/routing/compare-routes.ts'
import { shareText } from '../../../platform/heavy/shared.ts'
import {
  compareRoutes,
  routingsText,
  type Left,
  type RoutedBody,
  type WrittenRouting,
} from '../../../tasks/compare-routes.ts'
import { readingWorkOf, storedBodyOf } from '../../../tasks/read-stored.ts'
import { batchesOf } from '../../batches.ts'
import { listBodies, listStoredRoutes, type StoredRouteRow } from '../../capture/submissions/index.ts'
import { listVersionDatasets } from '../../capture/webhooks/index.ts'
import type { DestinationEntry, EndpointEntry, RuleEntry, TriggerEntry, WorkflowEntry } from './entries.ts'
import { keepsSecret, type Plan } from './plan.ts'
import type { State } from './state.ts'

type Compared = {
  readonly compared: number
  readonly different: number
  readonly unreadable: number
  readonly budget_used_up?: boolean
  readonly not_looked_at?: number
  readonly payloads: ShownDifference[]
}
type Mutable<T> = {
  -readonly [Member in keyof T]: T[Member] extends readonly (infer One)[] ? One[] : Mutable<T[Member]>
}
type ShownDifference = Mutable<RouteDifference> & {
  readonly submission_id: string
  readonly received_at: string
  readonly more: number
}

/** Finds the newest payloads that would be routed differently. Stores nothing, and stops when its budget is used up. */
export async function compareRouting(
  ctx: Ctx,
  { state, plan, recent }: { readonly state: State; readonly plan: Plan; readonly recent: number },
): Promise<Compared> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId }
  const rows = await listStoredRoutes(ctx.db, { ...at, limit: recent, bytesMax: LIMITS.storedPayloadsReadBytesMax })
  const ids = [...new Set(rows.flatMap(({ webhook_id: id }) => id ?? []))]
  const versions = await listVersionDatasets(ctx.db, { ...at, ids })
  const own = new Set(versions.map(({ webhook_id, dataset }) => `${webhook_id} ${dataset}`))
  const routings = shareText(ctx.uuid(), routingsText({ before: routingNow(state), after: routingAfter(plan) }))
  const [payloads, counts] = [[] as ShownDifference[], { compared: 0, different: 0, unreadable: 0 }]
  let left: Left = { work: LIMITS.dryRunWorkMax, chars: LIMITS.storedPayloadsReadBytesMax }
  let looked = 0
  for (const batch of batchesOf(rows, ({ bytes }) => bytes, BATCH_BYTES)) {
    // oxlint-disable-next-line no-await-in-loop -- the work so far decides whether there is more
    const bodies = await routedBodies(ctx, { rows: batch, own })
    const input = { routings, bodies, left }
    // oxlint-disable-next-line no-await-in-loop -- as above
    const done = await ctx.heavy.run(compareRoutes, {
      workspaceId: ctx.workspaceId,
      input,
      work: bodies.reduce((sum, stored) => sum + readingWorkOf(stored), routings.bytes.byteLength),
    })
    left = done.left
    looked += done.found.length
    for (const [index, found] of done.found.entries()) {
      const row = batch[index]
      if (found === 'unreadable') counts.unreadable += 1
      else counts.compared += 1
      if (typeof found === 'string' || row === undefined) continue
      counts.different += 1
      if (payloads.length < LIMITS.configRoutesShownMax) payloads.push(shownDifference(row, found))
    }
    if (done.found.length < batch.length) break
  }
  const rest = rows.length - looked
  return { ...counts, ...(rest > 0 ? { budget_used_up: true, not_looked_at: rest } : {}), payloads }
}

/** Each batch compiles the conditions that it needs, so batches are large. */
const BATCH_BYTES = 4_194_304

type OfBatch = { readonly rows: readonly StoredRouteRow[]; readonly own: ReadonlySet<string> }

async function routedBodies(ctx: Ctx, { rows, own }: OfBatch): Promise<readonly RoutedBody[]> {
  const { workspaceId, projectId } = ctx
  const stored = await listBodies(ctx.db, { workspaceId, projectId, ids: rows.map(({ id }) => id) })
  const byId = new Map(stored.map((row) => [row.id, storedBodyOf(row)]))
  // The retention may have deleted one since.
  return rows.map((row) => ({ ...(byId.get(row.id) ?? { body: '', headers: {} }), route: routedBy(row, own) }))
}

/** The route by which a payload came; undefined: it came to a dataset, and was filed nowhere. */
function routedBy(row: StoredRouteRow, own: ReadonlySet<string>): RoutedBody['route'] {
  const { webhook_id: webhookId, dataset } = row
  const came = { sourceIp: row.source_ip ?? undefined, startsNothing: row.hops > LIMITS.hopsMax }
  if (webhookId !== null) {
    // If no version of the endpoint has the dataset, the URL named it.
    const named = dataset !== null && !own.has(`${webhookId} ${dataset}`)
    return { ...came, use: 'endpoint', webhookId, datasetOfUrl: named ? dataset : undefined }
  }
  if (row.reached_rules) return { ...came, use: 'rules' }
  return dataset === null ? undefined : { ...came, use: 'dataset', dataset }
}

function shownDifference(row: StoredRouteRow, difference: RouteDifference): ShownDifference {
  const { records, deliveries, starts, ...refused } = difference
  let more = 0
  const cut = <Of>(items: readonly Of[]): Of[] => {
    more += Math.max(0, items.length - LIMITS.configDifferencesShownMax)
    return items.slice(0, LIMITS.configDifferencesShownMax)
  }
  const cutEach = <Of>({ added, removed, changed }: Differences<Of>) => ({
    added: cut(added),
    removed: cut(removed),
    changed: cut(changed),
  })
  return {
    submission_id: encodeId('submission', row.id),
    received_at: row.received_at.toISOString(),
    ...refused,
    records: cutEach(records),
    deliveries: cutEach(deliveries),
    starts: cutEach(starts),
    more,
  }
}

// Both configurations

function routingNow({ endpoints, rules, destinations, workflows, triggers }: State): WrittenRouting {
  return {
    endpoints: endpoints.map((now) => [now.id, endpointRoute(now.entry, now.hasSecret)]),
    rules: rules.flatMap(({ entry }) => ruleRoute(entry)),
    destinations: destinations.map(({ entry }) => destinationRoute(entry)),
    starters: [
      ...workflows.flatMap(({ entry }) => workflowRoute(entry)),
      ...triggers.flatMap(({ entry }) => triggerRoute(entry)),
    ],
  }
}

function routingAfter({ endpoints, rules, destinations, workflows, triggers }: Plan): WrittenRouting {
  return {
    endpoints: [
      ...staying(endpoints).map((now) => [now.id, endpointRoute(now.entry, now.hasSecret)] as const),
      ...endpoints.change.map(
        ({ now, entry }) => [now.id, endpointRoute(entry, keepsSecret(now, entry.verification?.scheme))] as const,
      ),
    ],
    rules: after(rules).flatMap(ruleRoute),
    destinations: after(destinations).map(destinationRoute),
    starters: [...after(workflows).flatMap(workflowRoute), ...after(triggers).flatMap(triggerRoute)],
  }
}

type AnySteps<Entry, Now> = {
  readonly create: readonly { readonly entry: Entry }[]
  readonly change: readonly { readonly entry: Entry }[]
  readonly unchanged: readonly { readonly now: Now }[]
  readonly rest: readonly { readonly now: Now }[]
  readonly unmanaged: readonly Now[]
}

function staying<Entry, Now>({ unchanged, rest, unmanaged }: AnySteps<Entry, Now>): readonly Now[] {
  return [...unchanged, ...rest].map(({ now }) => now).concat(unmanaged)
}

function after<Entry, Now extends { readonly entry: Entry }>(steps: AnySteps<Entry, Now>): readonly Entry[] {
  return [...staying(steps).map(({ entry }) => entry), ...[...steps.change, ...steps.create].map(({ entry }) => entry)]
}

function endpointRoute(entry: EndpointEntry, hasSecret: boolean) {
  const { slug, dataset, criteria, mappings, split } = entry
  const verifies = entry.verification !== undefined && entry.verification.scheme !== 'none'
  const refuses = !entry.enabled ? 'endpoint_disabled' : verifies && !hasSecret ? 'bad_signature' : undefined
  return { slug, dataset, criteria, mappings, split, refuses, ipAllowlist: entry.ip_allowlist }
}

const ruleRoute = ({ name, dataset, enabled, conditions, mappings }: RuleEntry) =>
  enabled ? [{ name, dataset, conditions, mappings }] : []

const destinationRoute = ({ name, enabled, datasets, conditions }: DestinationEntry) => ({
  name,
  enabled,
  datasets,
  conditions,
})

const workflowRoute = ({ name, active, entry_dataset: dataset, entry_conditions: conditions }: WorkflowEntry) =>
  active ? [{ kind: 'workflow' as const, name, dataset, conditions }] : []

const triggerRoute = ({ name, active, dataset, conditions }: TriggerEntry) =>
  active ? [{ kind: 'trigger' as const, name, dataset, conditions }] : []
