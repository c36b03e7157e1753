import { LIMITS, verifyTokenNeed, type ConfigKind } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { sameJson } from '../../../domain/json/same-json.ts'
import { refuse } from '../../../domain/refusal.ts'
import { sinkUrl } from '../../delivery/destination-sinks/index.ts'
import { missingSecrets } from '../../delivery/destinations/index.ts'
import { isDefaultRule } from '../alerts/index.ts'
import { checkNamesOnce, checkReferences } from './check-references.ts'
import {
  wholeAlertRule,
  wholeDestination,
  wholeEndpoint,
  wholeRecordView,
  wholeRule,
  wholeTransform,
  wholeTrigger,
  wholeWorkflow,
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
import type { ReadConfig } from './read-config.ts'
import type { Current, CurrentDestination, CurrentEndpoint, CurrentView, State } from './state.ts'

/** The changes that a configuration would make to a project. An entry that waits for a secret does not change. */
export type Plan = {
  readonly endpoints: Steps<EndpointEntry, CurrentEndpoint>
  readonly rules: Steps<RuleEntry, Current<RuleEntry>>
  readonly record_views: Steps<RecordViewEntry, CurrentView>
  readonly transforms: Steps<TransformEntry, Current<TransformEntry>>
  readonly destinations: Steps<DestinationEntry, CurrentDestination>
  readonly workflows: Steps<WorkflowEntry, Current<WorkflowEntry>>
  readonly triggers: Steps<TriggerEntry, Current<TriggerEntry>>
  readonly alert_rules: Steps<AlertRuleEntry, Current<AlertRuleEntry>>
  readonly quiet_hours: Steps<QuietHoursEntry, Current<QuietHoursEntry>>
  readonly needs_verification_secret: readonly string[]
  readonly needs_secrets: readonly NeededSecrets[]
}

export type NeededSecrets = Item & { readonly needs: string[]; readonly waiting: string[] }
export type Item = { readonly kind: ConfigKind; readonly identity: string }
export type Change = { readonly member: string; readonly from: unknown; readonly to: unknown }

export type Steps<Entry, Now> = {
  readonly create: readonly (Item & { readonly entry: Entry })[]
  readonly change: readonly (Item & { readonly entry: Entry; readonly now: Now; readonly changes: Change[] })[]
  readonly delete: readonly (Item & { readonly now: Now })[]
  readonly unchanged: readonly (Item & { readonly now: Now })[]
  /** Existing items without an entry in a list that the configuration has. They are not deleted. */
  readonly rest: readonly (Item & { readonly now: Now })[]
  /** Existing items of a list that the configuration does not have. */
  readonly unmanaged: readonly Now[]
}

export const STEP_LISTS = [
  'endpoints',
  'rules',
  'record_views',
  'transforms',
  'destinations',
  'workflows',
  'triggers',
  'alert_rules',
  'quiet_hours',
] as const

type Asked = { readonly config: ReadConfig; readonly state: State; readonly deleteMissing: boolean }

export function planOf(ctx: Ctx, { config, state, deleteMissing }: Asked): Plan {
  const needs: Needs = { verification: [], secrets: [] }
  const endpoints = stepsOf<EndpointEntry, CurrentEndpoint>({
    kind: 'endpoint',
    list: 'endpoints',
    deleteMissing,
    current: state.endpoints,
    wanted: config.endpoints?.map(wholeEndpoint),
    identityOf: ({ slug }) => slug,
    settle: (entry, now) => settleEndpoint(needs, entry, { now, wantsToken: wantsTokens(config).has(entry.slug) }),
  })
  const plan = {
    endpoints,
    rules: stepsOf<RuleEntry, Current<RuleEntry>>({
      kind: 'rule',
      list: 'rules',
      deleteMissing,
      current: state.rules,
      wanted: config.rules?.map(wholeRule),
      identityOf: ({ name }) => name,
    }),
    record_views: stepsOf<RecordViewEntry, CurrentView>({
      kind: 'record_view',
      list: 'record_views',
      deleteMissing,
      current: state.record_views,
      wanted: resolvedViews(config, endpoints),
      identityOf: ({ dataset, name }) => `${dataset}/${name}`,
      keyOf: ({ endpoint, name }) => `${endpoint}/${name}`,
      // The endpoint of a view determines these.
      derived: ['dataset', 'endpoint'],
    }),
    transforms: stepsOf<TransformEntry, Current<TransformEntry>>({
      kind: 'transform',
      list: 'transforms',
      deleteMissing,
      current: state.transforms,
      wanted: config.transforms?.map(wholeTransform),
      identityOf: ({ name }) => name,
    }),
    destinations: stepsOf<DestinationEntry, CurrentDestination>({
      kind: 'destination',
      list: 'destinations',
      deleteMissing,
      current: state.destinations,
      wanted: config.destinations?.map(wholeDestination),
      identityOf: ({ name }) => name,
      settle: (entry, now) => settleDestination(ctx, entry, { now, needs }),
    }),
    workflows: stepsOf<WorkflowEntry, Current<WorkflowEntry>>({
      kind: 'workflow',
      list: 'workflows',
      deleteMissing,
      current: state.workflows,
      wanted: config.workflows?.map(wholeWorkflow),
      identityOf: ({ name }) => name,
      settle: (entry, now) => (entry.slug === undefined && now !== undefined ? withSlug(entry, now.entry.slug) : entry),
    }),
    triggers: stepsOf<TriggerEntry, Current<TriggerEntry>>({
      kind: 'trigger',
      list: 'triggers',
      deleteMissing,
      current: state.triggers,
      wanted: config.triggers?.map(wholeTrigger),
      identityOf: ({ name }) => name,
    }),
    ...alertSteps({ config, state, deleteMissing }),
    needs_verification_secret: needs.verification.toSorted(),
    needs_secrets: needs.secrets,
  }
  if (config.workflows !== undefined) checkNamesOnce(state)
  checkReferences(config, { state, plan })
  checkSize(plan)
  return plan
}

/** Only rules that differ from their type are stored, so an entry that does not is there already. */
function alertSteps({ config, state, deleteMissing }: Asked): Pick<Plan, 'alert_rules' | 'quiet_hours'> {
  const stored = new Set(state.alert_rules.map(({ id }) => id))
  return {
    alert_rules: stepsOf<AlertRuleEntry, Current<AlertRuleEntry>>({
      kind: 'alert_rule',
      list: 'alert_rules',
      deleteMissing,
      current: state.alert_rules,
      wanted: config.alert_rules?.map(wholeAlertRule).filter((rule) => !isDefaultRule(rule) || stored.has(rule.type)),
      identityOf: ({ type }) => type,
    }),
    quiet_hours: stepsOf<QuietHoursEntry, Current<QuietHoursEntry>>({
      kind: 'quiet_hours',
      list: 'quiet_hours',
      deleteMissing,
      current: state.quiet_hours,
      wanted: config.quiet_hours,
      identityOf: ({ name }) => name,
    }),
  }
}

function checkSize(plan: Plan): void {
  const changes = STEP_LISTS.map((list) => plan[list]).reduce(
    (sum, steps) => sum + steps.create.length + steps.change.length + steps.delete.length,
    0,
  )
  if (changes > LIMITS.configChangesMax)
    throw refuse(
      'invalid_request',
      `config makes ${changes} changes, and one call can make at most ${LIMITS.configChangesMax}. Apply a part of it first.`,
    )
}

// Comparing

type Compared<Entry, Now> = {
  readonly kind: ConfigKind
  readonly list: string
  readonly current: readonly Now[]
  readonly wanted: readonly Entry[] | undefined
  readonly deleteMissing: boolean
  readonly identityOf: (entry: Entry) => string
  /** The key that an entry shares with the existing item; absent: the identity. */
  readonly keyOf?: (entry: Entry) => string
  readonly derived?: readonly string[]
  /** The part of an entry that can be written. */
  readonly settle?: (entry: Entry, now: Now | undefined) => Entry
}

function stepsOf<Entry extends object, Now extends Current<Entry>>(of: Compared<Entry, Now>): Steps<Entry, Now> {
  const { kind, current, wanted, identityOf, keyOf = identityOf, derived = [], settle = (entry) => entry } = of
  const steps = { create: [], change: [], delete: [], unchanged: [], rest: [], unmanaged: [] } as Writable<
    Steps<Entry, Now>
  >
  if (wanted === undefined) return { ...steps, unmanaged: current }
  const named = (entry: Entry): Item => ({ kind, identity: identityOf(entry) })
  const left = new Map(current.map((now) => [keyOf(now.entry), now]))
  checkUnique(of.list, wanted.map(keyOf))
  for (const asked of wanted) {
    const now = left.get(keyOf(asked))
    left.delete(keyOf(asked))
    const entry = settle(asked, now)
    if (now === undefined) {
      steps.create.push({ ...named(entry), entry })
      continue
    }
    const changes = changesOf(now.entry, entry).filter(({ member }) => !derived.includes(member))
    if (changes.length === 0) steps.unchanged.push({ ...named(now.entry), now })
    else steps.change.push({ ...named(entry), entry, now, changes })
  }
  const missing = [...left.values()].map((now) => ({ ...named(now.entry), now }))
  ;(of.deleteMissing ? steps.delete : steps.rest).push(...missing)
  return steps
}

type Writable<T> = { -readonly [Member in keyof T]: T[Member] extends readonly (infer One)[] ? One[] : T[Member] }

function changesOf(from: object, to: object): Change[] {
  const before = new Map<string, unknown>(Object.entries(from))
  return Object.entries(to)
    .map(([member, value]) => ({ member, from: before.get(member) ?? null, to: value }))
    .filter((change) => !sameJson(change.from, change.to))
}

function checkUnique(list: string, keys: readonly string[]): void {
  const first = new Map<string, number>()
  for (const [index, key] of keys.entries()) {
    const other = first.get(key)
    if (other !== undefined)
      throw refuse(
        'invalid_request',
        `config.${list}[${index}] has the same identity as config.${list}[${other}], "${key}". Remove one of them.`,
      )
    first.set(key, index)
  }
}

// Names

const withSlug = (entry: WorkflowEntry, slug: string | undefined): WorkflowEntry =>
  slug === undefined ? entry : { ...entry, slug }

// Secrets

type Needs = { readonly verification: string[]; readonly secrets: NeededSecrets[] }

const wantsTokens = ({ endpoints = [] }: ReadConfig): ReadonlySet<string> =>
  new Set(endpoints.flatMap(({ slug, handshake }) => (handshake?.has_verify_token === true ? [slug] : [])))

type OfEndpoint = { readonly now: CurrentEndpoint | undefined; readonly wantsToken: boolean }

/** An endpoint takes a scheme without its secret, and then refuses every request; a handshake that compares a token needs it. */
function settleEndpoint(needs: Needs, entry: EndpointEntry, of: OfEndpoint): EndpointEntry {
  const verification = entry.verification ?? of.now?.entry.verification ?? { scheme: 'none' }
  if (verification.scheme !== 'none' && !keepsSecret(of.now, verification.scheme)) needs.verification.push(entry.slug)
  return { ...entry, verification, handshake: settledHandshake(needs, entry, of) }
}

/** Whether an endpoint has the secret of this scheme. */
export function keepsSecret(now: CurrentEndpoint | undefined, scheme: string | undefined): boolean {
  return now?.hasSecret === true && now.entry.verification?.scheme === scheme
}

function settledHandshake(
  needs: Needs,
  { slug, handshake }: EndpointEntry,
  { now, wantsToken }: OfEndpoint,
): EndpointEntry['handshake'] {
  const { kind } = handshake
  const hasToken = now?.hasVerifyToken === true && now.entry.handshake.kind === kind
  const mustHave = verifyTokenNeed(handshake) === 'required'
  if (kind === 'none' || hasToken || !(mustHave || wantsToken)) return handshake
  needs.secrets.push({
    kind: 'endpoint',
    identity: slug,
    needs: ['handshake.verify_token'],
    waiting: mustHave ? ['handshake'] : [],
  })
  return mustHave ? (now?.entry.handshake ?? { kind: 'none' }) : handshake
}

/**
 * A new destination without its secrets is created turned off, so that its deliveries wait. An existing one retains its
 * reach until a person sets the secrets, because a configuration never stops a working destination.
 */
function settleDestination(
  ctx: Ctx,
  entry: DestinationEntry,
  { now, needs }: { readonly now: CurrentDestination | undefined; readonly needs: Needs },
): DestinationEntry {
  const url = entry.url ?? (now === undefined ? '' : sinkUrl(ctx, now.id))
  const missing = missingSecrets(ctx, { row: now?.row, wanted: { ...entry, url } })
  if (missing.length === 0) return entry
  const usesSecret = entry.auth?.kind === 'payload'
  const reached = now?.entry ?? notReached(entry)
  const { headers, auth, tls, proxy } = reached
  const payload_template = usesSecret ? reached.payload_template : entry.payload_template
  const settled: DestinationEntry = {
    ...entry,
    url: reached.url,
    config: reached.config,
    headers,
    auth,
    tls,
    proxy,
    payload_template,
    // A template that stays for now excludes the other forms of the body.
    body: payload_template === null ? entry.body : 'envelope',
    enabled: entry.enabled && now?.entry.enabled === true,
  }
  const waiting = changesOf(settled, entry)
    .map(({ member }) => member)
    .toSorted()
  needs.secrets.push({ kind: 'destination', identity: entry.name, needs: [...missing], waiting })
  return settled
}

/** The settings that a new destination can have without its secrets. */
function notReached({ url, config, auth, payload_template }: DestinationEntry) {
  return {
    ...NOT_REACHED,
    url,
    config,
    payload_template: auth?.kind === 'payload' ? null : payload_template,
  }
}

const NOT_REACHED = { headers: [], auth: null, tls: null, proxy: null } as const

// Views

/** Finds the endpoint of each view: the one that it names, otherwise the one that files into its dataset. */
function resolvedViews(
  { record_views }: ReadConfig,
  endpoints: Plan['endpoints'],
): readonly RecordViewEntry[] | undefined {
  if (record_views === undefined) return undefined
  const after = [
    ...[...endpoints.create, ...endpoints.change].map(({ entry }) => entry),
    ...[...endpoints.unchanged, ...endpoints.rest].map(({ now }) => now.entry),
    ...endpoints.unmanaged.map(({ entry }) => entry),
  ]
  const datasets = new Map(after.map(({ slug, dataset }) => [slug, dataset]))
  const filers = Map.groupBy(after, ({ dataset }) => dataset)
  const views = record_views.map((view, index) => {
    const place = `config.record_views[${index}]`
    const { dataset } = view
    const filing = filers.get(dataset) ?? []
    const endpoint = view.endpoint ?? (filing.length === 1 ? filing[0]?.slug : undefined)
    if (endpoint === undefined)
      throw refuse(
        'invalid_request',
        filing.length === 0
          ? `${place}.dataset: no endpoint files into "${dataset}". Add the endpoint, or correct the dataset.`
          : `${place}: several endpoints file into "${dataset}". Add "endpoint": the slug of one of them.`,
      )
    if (datasets.get(endpoint) !== dataset)
      throw refuse('invalid_request', `${place}.endpoint: no endpoint "${endpoint}" files into "${dataset}".`)
    return wholeRecordView({ ...view, endpoint })
  })
  checkDefaults(views)
  return views
}

function checkDefaults(views: readonly RecordViewEntry[]): void {
  const seen = new Set<string>()
  for (const [index, { endpoint, is_default }] of views.entries()) {
    if (is_default && seen.has(endpoint))
      throw refuse(
        'invalid_request',
        `config.record_views[${index}].is_default: another view of "${endpoint}" is already the default.`,
      )
    if (is_default) seen.add(endpoint)
  }
}
