import { alertFacts, type AlertRule, type ProjectConfig } from '@postroad/contract'
import { isDeepStrictEqual } from 'node:util'
import { LIMITS, type Handshake, type HandshakeSettings, type VerificationSettings } from '@postroad/contract'
import { defaultMaxInFlight } from '../../../domain/delivery/destination-kind.ts'
import { signingOf } from '../../../domain/delivery/signing-keys.ts'
import { wholeRule as wholeRuleOfType } from '../alerts/index.ts'
import type { ReachConfig } from '../../delivery/destinations/index.ts'

/** The entries of a configuration with all of their members, in the form for comparing and exporting. */

type EntryOf<List extends Exclude<keyof ProjectConfig, '$schema' | 'version' | 'project' | 'not_exported'>> =
  NonNullable<ProjectConfig[List]>[number]
/** Every member is present; a member that a file may leave out has its default. */
type Whole<Entry, But extends keyof Entry = never> = {
  readonly [Member in Exclude<keyof Entry, But>]-?: Exclude<Entry[Member], undefined>
}

export type EndpointEntry = Whole<EntryOf<'endpoints'>, 'verification' | 'handshake'> & {
  /** Absent only where a file does not have it: then the stored setting stays. */
  readonly verification?: VerificationSettings
  readonly handshake: HandshakeSettings
}
export type RuleEntry = Whole<EntryOf<'rules'>>
export type RecordViewEntry = Whole<EntryOf<'record_views'>>
export type TransformEntry = Whole<EntryOf<'transforms'>>
export type DestinationEntry = Whole<
  EntryOf<'destinations'>,
  'url' | 'sink' | 'needs_secrets' | 'headers' | 'auth' | 'tls' | 'proxy'
> &
  ReachConfig & {
    /** null: a sink of this server. */
    readonly url: string | null
  }

/** Its steps refer to destinations and agents by name. */
export type WorkflowEntry = Whole<EntryOf<'workflows'>, 'slug'> & {
  /** Absent only where a file does not have it: then the stored slug stays. */
  readonly slug?: string
}
export type TriggerEntry = Whole<EntryOf<'triggers'>>
export type AlertRuleEntry = AlertRule
export type QuietHoursEntry = EntryOf<'quiet_hours'>

const ENDPOINT = {
  enabled: true,
  criteria: [],
  mappings: [],
  ip_allowlist: [],
  cors: null,
  handshake: { kind: 'none' },
  response: null,
  body_as: 'contract',
  split: null,
  idempotency: null,
  customer: null,
  event_title: null,
  refused_samples: true,
  quarantine_hours: 0,
} as const

const RULE = { enabled: true, conditions: [], mappings: [] } as const
const RECORD_VIEW = { sort_key: null, sort_dir: 'asc', is_default: false } as const

const WORKFLOW = { active: true, entry_conditions: [] } as const
const TRIGGER = {
  conditions: [],
  active: true,
  max_per_minute: LIMITS.aiTriggerPerMinuteDefault,
  output_dataset: null,
} as const

const DESTINATION = {
  config: { kind: 'http' },
  enabled: true,
  datasets: null,
  conditions: [],
  retry: { schedule_seconds: null },
  timeout_ms: LIMITS.deliveryTimeoutMsDefault,
  max_in_flight: LIMITS.maxInFlightDefault,
  rate_limit: null,
  ordering: 'none',
  signing: { header: 'both', scheme: 'hmac' },
  payload_template: null,
  body: 'envelope',
  forward_headers: [],
  transform: null,
  headers: [],
  auth: null,
  tls: null,
  proxy: null,
} as const

export function wholeEndpoint({ handshake, verification, ...entry }: EntryOf<'endpoints'>): EndpointEntry {
  return {
    ...structuredDefaults(ENDPOINT),
    ...defined(entry),
    handshake: handshake === undefined ? { kind: 'none' } : withoutToken(handshake),
    ...(verification === undefined ? {} : { verification }),
  }
}

/** The kind and the form; whether there is a token is informational. */
export function withoutToken({
  has_verify_token: _has,
  ...handshake
}: Pick<Handshake, 'kind' | 'has_verify_token'>): HandshakeSettings {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a handshake that was checked, without its informational member
  return handshake as HandshakeSettings
}

export function wholeRule(entry: EntryOf<'rules'>): RuleEntry {
  return { ...structuredDefaults(RULE), ...defined(entry) }
}

export function wholeTransform(entry: EntryOf<'transforms'>): TransformEntry {
  return { language: 'js', ...defined(entry) }
}

/** The caller has found the endpoint of the view. */
export function wholeRecordView(entry: EntryOf<'record_views'> & { readonly endpoint: string }): RecordViewEntry {
  return { ...RECORD_VIEW, ...defined(entry) }
}

export function wholeDestination(of: EntryOf<'destinations'>): DestinationEntry {
  const { url, sink: _sink, needs_secrets: _needs, auth, headers = [], proxy, signing, ...entry } = of
  return {
    ...structuredDefaults(DESTINATION),
    max_in_flight: defaultMaxInFlight(entry.config ?? DESTINATION.config),
    ...defined(entry),
    url: url ?? null,
    // A file says all settings, so an absent scheme is the default.
    signing: signingOf(signing ?? DESTINATION.signing),
    headers: headers.toSorted(),
    auth: auth === undefined ? null : defined('header' in auth ? { ...auth, header: auth.header.toLowerCase() } : auth),
    proxy: proxy === undefined ? null : defined({ ...proxy, url: URL.parse(proxy.url)?.origin ?? proxy.url }),
  }
}

export function wholeWorkflow({ slug, ...entry }: EntryOf<'workflows'>): WorkflowEntry {
  return { ...structuredDefaults(WORKFLOW), ...defined(entry), ...(slug === undefined ? {} : { slug }) }
}

export function wholeTrigger(entry: EntryOf<'triggers'>): TriggerEntry {
  return { ...structuredDefaults(TRIGGER), ...defined(entry) }
}

/** A file may leave out the members that are as the type has them. */
export const wholeAlertRule = (entry: EntryOf<'alert_rules'>): AlertRuleEntry => wholeRuleOfType(entry)

type Exported = Readonly<Record<string, unknown>>

export function shownEndpoint(entry: EndpointEntry, has: { readonly verifyToken: boolean }): Exported {
  const { name, slug, dataset, enabled, criteria, mappings, ip_allowlist, verification, handshake, ...rest } = entry
  const token = has.verifyToken ? { has_verify_token: true } : {}
  return {
    name,
    slug,
    dataset,
    enabled,
    criteria,
    mappings,
    ...without(ENDPOINT, { ip_allowlist }),
    verification,
    ...without(ENDPOINT, { cors: rest.cors }),
    ...(handshake.kind === 'none' ? {} : { handshake: { ...handshake, ...token } }),
    ...without(ENDPOINT, {
      response: rest.response,
      body_as: rest.body_as,
      split: rest.split,
      idempotency: rest.idempotency,
      customer: rest.customer,
      event_title: rest.event_title,
      refused_samples: rest.refused_samples,
      quarantine_hours: rest.quarantine_hours,
    }),
  }
}

export function shownRule({ name, dataset, enabled, conditions, mappings }: RuleEntry): Exported {
  return { name, dataset, enabled, conditions, mappings }
}

export function shownRecordView(entry: RecordViewEntry): Exported {
  const { dataset, name, endpoint, columns, sort_key, sort_dir, is_default } = entry
  return { dataset, name, endpoint, columns, ...without(RECORD_VIEW, { sort_key, sort_dir, is_default }) }
}

export function shownTransform({ name, language, code }: TransformEntry): Exported {
  return { name, ...without({ language: 'js' }, { language }), code }
}

export function shownDestination(entry: DestinationEntry, needs_secrets: readonly string[]): Exported {
  const { name, url, enabled, datasets, conditions, ...rest } = entry
  return {
    name,
    ...(url === null ? { sink: true } : { url }),
    enabled,
    datasets,
    conditions,
    ...without(
      { ...DESTINATION, max_in_flight: defaultMaxInFlight(rest.config) },
      {
        config: rest.config,
        retry: rest.retry,
        timeout_ms: rest.timeout_ms,
        max_in_flight: rest.max_in_flight,
        rate_limit: rest.rate_limit,
        ordering: rest.ordering,
        signing: rest.signing,
        payload_template: rest.payload_template,
        body: rest.body,
        forward_headers: rest.forward_headers,
        transform: rest.transform,
        headers: rest.headers,
        auth: rest.auth,
        tls: rest.tls,
        proxy: rest.proxy,
      },
    ),
    ...(needs_secrets.length === 0 ? {} : { needs_secrets }),
  }
}

export function shownWorkflow(entry: WorkflowEntry): Exported {
  const { name, slug, active, entry_dataset, entry_conditions, steps } = entry
  return { name, slug, active, entry_dataset, entry_conditions, steps }
}

export function shownTrigger({ name, dataset, conditions, agent, active, ...rest }: TriggerEntry): Exported {
  return { name, dataset, conditions, agent, active, ...without(TRIGGER, rest) }
}

export function shownAlertRule({ type, enabled, threshold, critical }: AlertRuleEntry): Exported {
  return {
    type,
    enabled,
    ...(threshold === null ? {} : { threshold }),
    ...(alertFacts(type).unit === null ? {} : { critical }),
  }
}

export function shownQuietHours({ name, days, from, to, time_zone }: QuietHoursEntry): Exported {
  return { name, days, from, to, time_zone }
}

/** The members that differ from their default. */
function without<Members extends object>(defaults: object, members: Members): Partial<Members> {
  const known = new Map<string, unknown>(Object.entries(defaults))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- some of its members
  return Object.fromEntries(
    Object.entries(members).filter(([member, value]) => !isDeepStrictEqual(value, known.get(member))),
  ) as Partial<Members>
}

type Defined<T> = { [Member in keyof T]: Exclude<T[Member], undefined> }

const defined = <T extends object>(value: T): Defined<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only members without a value are left out
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<T>

/** A copy with separate lists, so that no change reaches a default. Its types are those that the rooms take. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a clone can be changed
const structuredDefaults = <T extends object>(value: T): Mutable<T> => structuredClone(value) as Mutable<T>
type Mutable<T> = { -readonly [Member in keyof T]: T[Member] extends readonly [] ? [] : T[Member] }
