import { createHash } from 'node:crypto'
import { decodeId, type Conditions } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { signingOf } from '../../../domain/delivery/signing-keys.ts'
import { refuse } from '../../../domain/refusal.ts'
import { triggers } from '../../automation/triggers/index.ts'
import { listWholeWorkflows } from '../../automation/workflows/index.ts'
import { listQuarantineHours } from '../../capture/quarantine/index.ts'
import { listViewsOfProject } from '../../capture/record-views/index.ts'
import { rules } from '../../capture/rules/index.ts'
import { webhooks } from '../../capture/webhooks/index.ts'
import { readAll } from '../../page.ts'
import { isSinkOf } from '../../delivery/destination-sinks/index.ts'
import { listConfiguredDestinations, type ConfiguredDestination } from '../../delivery/destinations/index.ts'
import { listWholeTransforms } from '../../delivery/transforms/index.ts'
import { alerts, isDefaultRule } from '../alerts/index.ts'
import { findProject } from '../projects/index.ts'
import {
  withoutToken,
  type AlertRuleEntry,
  type DestinationEntry,
  type QuietHoursEntry,
  type EndpointEntry,
  type RecordViewEntry,
  type RuleEntry,
  type TransformEntry,
  type TriggerEntry,
  type WorkflowEntry,
} from './entries.ts'
import { listUnconfigured, type Unconfigured } from './queries.ts'
import { namesFor, readReferences, renamed, type References } from './references.ts'

/** The settings of a project, in the stable order of a configuration, and those that no configuration contains. */
export type State = {
  readonly slug: string
  readonly endpoints: readonly CurrentEndpoint[]
  readonly rules: readonly Current<RuleEntry>[]
  readonly record_views: readonly CurrentView[]
  readonly transforms: readonly Current<TransformEntry>[]
  readonly destinations: readonly CurrentDestination[]
  readonly workflows: readonly Current<WorkflowEntry>[]
  readonly triggers: readonly Current<TriggerEntry>[]
  readonly alert_rules: readonly Current<AlertRuleEntry>[]
  readonly quiet_hours: readonly Current<QuietHoursEntry>[]
  /** The names of AI agents, which no configuration contains. */
  readonly agents: readonly string[]
  readonly not_exported: readonly Unconfigured[]
}

export type Current<Entry> = {
  readonly id: string
  readonly entry: Entry
  /** Changes with everything that a plan compares. It is made page by page, because all entries may be long together. */
  readonly digest: string
}
export type CurrentEndpoint = Current<EndpointEntry> & { readonly hasSecret: boolean; readonly hasVerifyToken: boolean }
export type CurrentView = Current<RecordViewEntry> & { readonly webhookId: string }
export type CurrentDestination = Current<DestinationEntry> & { readonly row: ConfiguredDestination['row'] }

export async function readState(ctx: Ctx): Promise<State> {
  const project = await findProject(ctx.db, ctx)
  if (project === undefined) throw refuse('not_found')
  const endpoints = await readEndpoints(ctx)
  const references = await readReferences(ctx)
  const transforms = await readTransforms(ctx)
  const names = new Map(transforms.map(({ id, entry }) => [id, entry.name]))
  return {
    slug: project.slug,
    endpoints: inOrder(endpoints, ({ entry }) => [entry.slug]),
    rules: inOrder(await readRules(ctx), ({ entry }) => [entry.name]),
    record_views: inOrder(await readViews(ctx, endpoints), ({ entry }) => [entry.dataset, entry.name, entry.endpoint]),
    transforms: inOrder(transforms, ({ entry }) => [entry.name]),
    destinations: inOrder(await readDestinations(ctx, names), ({ entry }) => [entry.name]),
    workflows: inOrder(await readWorkflows(ctx, references), ({ entry }) => [entry.name, entry.slug ?? '']),
    triggers: inOrder(await readTriggers(ctx, references), ({ entry }) => [entry.name]),
    ...(await readAlerts(ctx)),
    agents: references.agents.map(({ name }) => name).toSorted(),
    not_exported: inOrder(await listUnconfigured(ctx.db, ctx), ({ kind, name }) => [kind, name]),
  }
}

/** Sorts by code points, so that the order is the same everywhere. */
function inOrder<Item>(items: readonly Item[], keys: (item: Item) => readonly string[]): readonly Item[] {
  const keyed = items.map((item) => ({ item, key: keys(item).join('\0') }))
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ item }) => item)
}

const ROWS_AT_ONCE = 200

type Page = { readonly limit: number; readonly cursor: string | undefined }

/** All of a list, page after page. */
async function listed<Answer extends { readonly next_cursor: string | null }, Item>(
  ask: (page: Page) => Promise<Answer>,
  itemsOf: (answer: Answer) => readonly Item[],
): Promise<readonly Item[]> {
  const all: Item[] = []
  for (let cursor: string | undefined; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page needs the cursor of the previous one
    const answer: Answer = await ask({ limit: ROWS_AT_ONCE, cursor })
    all.push(...itemsOf(answer))
    if (answer.next_cursor === null) return all
    cursor = answer.next_cursor
  }
}

/** An entry with its digest. `compared`: what a plan compares of it. */
function digested<Now extends { readonly id: string; readonly entry: object }>(
  now: Now,
  compared: object = now,
): Now & { readonly digest: string } {
  return { ...now, digest: hashOf([compared]) }
}

async function readEndpoints(ctx: Ctx): Promise<readonly CurrentEndpoint[]> {
  const hours = new Map((await listQuarantineHours(ctx.db, ctx)).map((of) => [of.webhook_id, of.hours]))
  return listed(
    (page) => webhooks.list(ctx, page),
    (answer) => answer.webhooks.map((webhook) => endpointOf(webhook, hours)),
  )
}

type Listed = Awaited<ReturnType<typeof webhooks.list>>['webhooks'][number]

function endpointOf(
  { id, verification, handshake, ...of }: Listed,
  hours: ReadonlyMap<string, number>,
): CurrentEndpoint {
  const { has_secret: hasSecret, previous_secret_expires_at: _end, ...settings } = verification
  const webhookId = decodeId('webhook', id) ?? ''
  return digested({
    id: webhookId,
    hasSecret: hasSecret === true,
    hasVerifyToken: handshake.has_verify_token === true,
    entry: {
      name: of.name,
      slug: of.slug,
      dataset: of.dataset,
      enabled: of.enabled,
      criteria: asStored(of.criteria),
      mappings: of.mappings,
      ip_allowlist: of.ip_allowlist,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the public settings, without the secret
      verification: settings as NonNullable<EndpointEntry['verification']>,
      cors: of.cors,
      handshake: withoutToken(handshake),
      response: of.response,
      body_as: of.body_as,
      split: of.split,
      idempotency: of.idempotency,
      customer: of.customer,
      event_title: of.event_title,
      refused_samples: of.refused_samples,
      quarantine_hours: hours.get(webhookId) ?? 0,
    },
  })
}

async function readRules(ctx: Ctx): Promise<readonly Current<RuleEntry>[]> {
  return listed(
    (page) => rules.list(ctx, page),
    (answer) =>
      answer.rules.map(({ id, name, dataset, enabled, conditions, mappings }) =>
        digested({
          id: decodeId('rule', id) ?? '',
          entry: { name, dataset, enabled, conditions: asStored(conditions), mappings },
        }),
      ),
  )
}

/** Rooms return conditions in the form in which they are stored. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they were checked on save
const asStored = (conditions: unknown): Conditions => conditions as Conditions

async function readViews(ctx: Ctx, endpoints: readonly CurrentEndpoint[]): Promise<readonly CurrentView[]> {
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.entry]))
  const views = await readAll(ctx.db, async (db, page) =>
    (await listViewsOfProject(db, { ...ctx, ...page })).map((row) => {
      const { id, webhook_id: webhookId, name, columns, sort_key, sort_dir, is_default } = row
      const { dataset, slug: endpoint } = byId.get(webhookId) ?? { dataset: '', slug: '' }
      const entry = { dataset, name, endpoint, columns, sort_key, sort_dir, is_default }
      return digested({ id, webhookId, entry })
    }),
  )
  // A view of an endpoint that was created after the endpoints were read belongs to the next export.
  return views.filter(({ webhookId }) => byId.has(webhookId))
}

const readTransforms = (ctx: Ctx): Promise<readonly Current<TransformEntry>[]> =>
  readAll(ctx.db, async (db, page) =>
    (await listWholeTransforms(db, { ...ctx, ...page })).map(({ id, name, language, code }) =>
      digested({ id, entry: { name, language, code } }),
    ),
  )

/** The names of transforms by their ids. */
type Names = ReadonlyMap<string, string>

const readDestinations = (ctx: Ctx, names: Names): Promise<readonly CurrentDestination[]> =>
  readAll(ctx.db, async (db, page) =>
    (await listConfiguredDestinations({ ...ctx, db }, page)).map((configured) =>
      currentDestination(ctx, configured, names),
    ),
  )

// oxlint-disable-next-line max-params -- the context, the destination, and the names of transforms
function currentDestination(ctx: Ctx, { row, reach }: ConfiguredDestination, names: Names): CurrentDestination {
  const entry: DestinationEntry = {
    name: row.name,
    config: row.config,
    url: isSinkOf(ctx, row) ? null : row.url,
    enabled: row.enabled,
    datasets: row.datasets === null ? null : [...row.datasets],
    conditions: row.conditions,
    retry: { schedule_seconds: row.schedule_seconds === null ? null : [...row.schedule_seconds] },
    timeout_ms: row.timeout_ms,
    max_in_flight: row.max_in_flight,
    rate_limit: row.rate_count === null || row.rate_per === null ? null : { count: row.rate_count, per: row.rate_per },
    ordering: row.order_path === null ? 'none' : { path: row.order_path },
    signing: signingOf(row.signing),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema checked it on save
    payload_template: row.payload_template as DestinationEntry['payload_template'],
    body: row.body ?? 'envelope',
    forward_headers: [...(row.forward_headers ?? [])],
    transform: row.transform_id === null ? null : (names.get(row.transform_id) ?? null),
    ...reach,
  }
  return digested({ id: row.id, row, entry }, { id: row.id, entry })
}

async function readWorkflows(ctx: Ctx, references: References): Promise<readonly Current<WorkflowEntry>[]> {
  const names = namesFor(references)
  return readAll(ctx.db, async (db, page) =>
    (await listWholeWorkflows(db, { ...ctx, ...page })).map(({ id, name, slug, active, steps, ...of }) => {
      const { entry_dataset, entry_conditions } = of
      return digested({
        id,
        entry: { name, slug, active, entry_dataset, entry_conditions, steps: renamed(steps, names) },
      })
    }),
  )
}

async function readTriggers(ctx: Ctx, references: References): Promise<readonly Current<TriggerEntry>[]> {
  const { agent: nameOf } = namesFor(references)
  return listed(
    (page) => triggers.list(ctx, page),
    (answer) =>
      answer.triggers.map(({ id, name, dataset, conditions, agent_id, active, max_per_minute, output_dataset }) => {
        const agent = nameOf(agent_id)
        const entry = { name, dataset, conditions: asStored(conditions), agent, active, max_per_minute, output_dataset }
        return digested({ id: decodeId('aiTrigger', id) ?? '', entry })
      }),
  )
}

async function readAlerts(ctx: Ctx): Promise<Pick<State, 'alert_rules' | 'quiet_hours'>> {
  const { rules: all, quiet_hours } = await alerts.settings(ctx, {})
  return {
    alert_rules: all.filter((rule) => !isDefaultRule(rule)).map((entry) => digested({ id: entry.type, entry })),
    quiet_hours: inOrder(quiet_hours, ({ name }) => [name]).map((entry) => digested({ id: entry.name, entry })),
  }
}

/** Stays the same for a project until something changes that a plan compares. */
export function fingerprintOf({ agents, not_exported, ...state }: State): string {
  const lists = [
    state.endpoints,
    state.rules,
    state.record_views,
    state.transforms,
    state.destinations,
    state.workflows,
    state.triggers,
    state.alert_rules,
    state.quiet_hours,
  ]
  return hashOf([...lists.flat().map(({ digest }) => digest), agents, not_exported])
}

export function hashOf(parts: readonly unknown[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${JSON.stringify(part)}\n`)
  return hash.digest('hex').slice(0, 32)
}
