import type { VerificationSettings } from '@postroad/contract'
import type { Deps } from '../context.ts'
import type { BodyReading } from '../domain/capture/body/decode-body.ts'
import { compileCustomer, type CustomerOf } from '../domain/capture/customer.ts'
import { compileHandshake, type CompiledHandshake } from '../domain/capture/handshake.ts'
import { compileResponse, type CompiledResponse } from '../domain/capture/endpoint-response.ts'
import {
  compileIdempotency,
  itemKeysOf,
  type CompiledIdempotency,
  type ItemKeys,
} from '../domain/capture/idempotency.ts'
import { compileIpAllowlist, type AllowsIp } from '../domain/ip-range.ts'
import { limitsOf, type PlanLimits } from '../domain/workspace/plan.ts'
import { secretPlace, type SealedColumn } from '../resources/secret-place.ts'
import { hashCredential } from '../platform/cipher.ts'
import { listDatasetNames } from '../resources/capture/datasets/queries.ts'
import { listDestinationShares } from '../resources/delivery/destinations/queries.ts'
import { listIngestKeyPlans, type IngestKeyPlanRow } from '../resources/capture/ingest-keys/queries.ts'
import { findCredential, type CredentialRow } from '../resources/capture/credentials/queries.ts'
import { changedProjects, findProjectPlan, type Inactive } from '../resources/workspace/projects/queries.ts'
import { listRulePlans } from '../resources/capture/rules/queries.ts'
import { listWebhookPlans, type WebhookRow } from '../resources/capture/webhooks/queries.ts'
import { listTriggerPlans } from '../resources/automation/triggers/queries.ts'
import { listWorkflowPlans } from '../resources/automation/workflows/queries.ts'
import { PLAN_USED_MS, planOf, storePlan } from '../resources/capture/routing-plans/index.ts'
import { compileShares, partsOf, type CompiledShare } from './route/plan-parts.ts'
import { compileRouting, filingOf, RoutingSource, type Filing, type Routing } from './route/routing.ts'

/** An endpoint, compiled for the road. */
export type WebhookPlan = Filing & {
  readonly id: string
  readonly slug: string
  readonly enabled: boolean
  readonly settings: VerificationSettings
  /** The current secret first. The previous one is valid until its end (milliseconds). */
  readonly secrets: readonly HeldSecret[]
  /** undefined: any address. */
  readonly allowsIp: AllowsIp | undefined
  /** The origins whose pages may post; undefined: any origin. */
  readonly origins: ReadonlySet<string> | undefined
  readonly handshake: HandshakePlan
  /** Its own response to an accepted event; undefined: that of the contract. */
  readonly response: CompiledResponse | undefined
  /** How it reads bodies; undefined: as the contract says. */
  readonly reading: BodyReading | undefined
  /** undefined: only the header Idempotency-Key counts. */
  readonly idempotency: CompiledIdempotency | undefined
  /** undefined: its items have no keys. */
  readonly itemKeys: ItemKeys | undefined
  /** Whether samples of rejected requests are stored. */
  readonly refusedSamples: boolean
  /** How long requests with a wrong signature are stored; 0: they are not. */
  readonly quarantineHours: number
}

/** A handshake with the verify token of the endpoint, and its hash. */
export type HandshakePlan = CompiledHandshake & {
  readonly token: string | undefined
  readonly tokenHash: Buffer | undefined
}

/** An ingest key, compiled for the road and for streams. */
export type IngestKeyPlan = {
  readonly enabled: boolean
  readonly scopes: ReadonlySet<string>
  /** The datasets that it may write and stream; null: all of them. */
  readonly datasets: ReadonlySet<string> | null
  readonly allowsIp: AllowsIp | undefined
  /** The secrets of X-Service-Signature, ordered as for an endpoint; undefined: no signature is required. */
  readonly secrets: readonly HeldSecret[] | undefined
  /** undefined: its events name no customer. */
  readonly customerOf: CustomerOf | undefined
}

/** A secret, and its end in milliseconds. */
export type HeldSecret = { readonly value: string; readonly until: number }

/** All data of one project that the road needs, loaded together and replaced together. */
export type ProjectPlan = Omit<Routing, 'webhooks' | 'ingestKeys'> & {
  readonly workspaceId: string
  readonly workspaceSlug: string
  /** The reason why its workspace accepts nothing; undefined while it accepts events. */
  readonly inactive: Inactive | undefined
  readonly limits: PlanLimits
  readonly projectId: string
  readonly projectSlug: string
  readonly version: number
  /** In milliseconds. */
  readonly loadedAt: number
  /** Its destinations, for the next plan of the project. */
  readonly shares: readonly CompiledShare[]
  readonly webhooks: ReadonlyMap<string, WebhookPlan>
  readonly webhooksBySlug: ReadonlyMap<string, WebhookPlan>
  readonly ingestKeys: ReadonlyMap<string, IngestKeyPlan>
  /** The settings that route events, for threads. */
  readonly source: RoutingSource
  /** The datasets known to exist. The road adds the new ones that it creates. */
  readonly datasets: Set<string>
}

/**
 * The in-memory directory of the hot path: credentials and project plans. They are loaded on first use and dropped when the
 * project changes. NOTIFY reports a change immediately, and a poll of versions finds it within half a second.
 */
export type Directory = {
  /** The credential behind a slug or a key; undefined when there is none. Synchronous when it is cached. */
  credential(text: string): CredentialRow | undefined | Promise<CredentialRow | undefined>
  plan(projectId: string, workspaceId: string): ProjectPlan | undefined | Promise<ProjectPlan | undefined>
  forget(projectId: string): void
  /** Finds changes that other processes made. Must be called a few times a second. */
  poll(): Promise<void>
}

const ENTRIES_MAX = 50_000
const UNKNOWN_KEPT_MS = 1_000
/** Longer than any transaction that changes a configuration, so the next poll finds a late commit. */
const CHANGES_WINDOW_MS = 10_000
/** No credential is longer, and a longer text from a stranger is not cached. */
const CREDENTIAL_CHARS_MAX = 100

export function createDirectory(deps: Deps): Directory {
  const credentials = new Map<string, CredentialRow>()
  const unknown = new Map<string, number>()
  const plans = new Map<string, ProjectPlan>()
  /** The destinations of plans that were dropped, because most of them did not change. */
  const previous = new Map<string, readonly CompiledShare[]>()
  const loading = new Map<string, Promise<unknown>>()
  const versions = new Map<string, number>()
  let generation = 0
  let polledAt: number | undefined

  // One load at a time for each key. If a change came meanwhile, the callers get the value, but it is not cached.
  const once = <T>(key: string, load: () => Promise<T>, keep: (value: T) => void): Promise<T> => {
    const running = loading.get(key)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key is used with one type only
    if (running !== undefined) return running as Promise<T>
    const began = generation
    const promise: Promise<T> = load()
      .then((value) => {
        if (began === generation) keep(value)
        return value
      })
      .finally(() => {
        // A change may have dropped this load, and the next one has its place.
        if (loading.get(key) === promise) loading.delete(key)
      })
    loading.set(key, promise)
    return promise
  }

  const forget = (projectId: string): void => {
    generation += 1
    loading.clear()
    const held = plans.get(projectId)
    plans.delete(projectId)
    if (held !== undefined) remember(previous, projectId, held.shares)
    // The change may have restored a URL that was deleted.
    unknown.clear()
    for (const [text, row] of credentials) if (row.project_id === projectId) credentials.delete(text)
  }

  return {
    credential: (text) => {
      if (text.length > CREDENTIAL_CHARS_MAX) return undefined
      const known = credentials.get(text)
      if (known !== undefined) return known
      const until = unknown.get(text)
      if (until !== undefined && until > deps.clock.now()) return undefined
      return once(
        `credential ${text}`,
        () => findCredential(deps.database.patient, hashCredential(text)),
        (row) => {
          if (row === undefined) remember(unknown, copyOf(text), deps.clock.now() + UNKNOWN_KEPT_MS)
          else remember(credentials, copyOf(text), row)
        },
      )
    },
    plan: (projectId, workspaceId) => {
      const held = plans.get(projectId)
      // A plan is loaded again before its stored row may be deleted.
      if (held !== undefined && deps.clock.now() - held.loadedAt < PLAN_USED_MS) return held
      const known = new Map((held?.shares ?? previous.get(projectId))?.map((share) => [share.digest, share]))
      return once(
        `plan ${projectId}`,
        () => loadPlan(deps, { workspaceId, projectId, known }),
        (plan) => {
          previous.delete(projectId)
          if (plan !== undefined) remember(plans, projectId, plan)
        },
      )
    },
    forget,
    poll: async () => {
      const began = deps.clock.now()
      // A poll covers the time since the last successful one, so a node that was cut off or asleep misses nothing.
      polledAt ??= began
      for (const row of await changedProjects(deps.database, new Date(polledAt - CHANGES_WINDOW_MS))) {
        if (versions.get(row.id) === row.config_version) continue
        remember(versions, row.id, row.config_version)
        // A plan of this version may be cached next to a credential that was read before it.
        forget(row.id)
      }
      polledAt = began
    },
  }
}

/** A slice of a URL retains the whole URL in memory, up to 64 KiB; a copy retains only itself. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}

/** Maps keep insertion order: the oldest entry is dropped when there is no room. */
function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
  if (map.size >= ENTRIES_MAX) {
    for (const oldest of map.keys()) {
      map.delete(oldest)
      break
    }
  }
  map.set(key, value)
}

/** `known`: the shares of the destinations that were compiled before. */
async function loadPlan(
  deps: Deps,
  { known, ...at }: { workspaceId: string; projectId: string; known: ReadonlyMap<string, CompiledShare> },
): Promise<ProjectPlan | undefined> {
  const db = deps.database.patient
  const loadedAt = deps.clock.now()
  const project = await findProjectPlan(db, at)
  if (project === undefined) return undefined
  const [webhookRows, keyRows, ruleRows, newShares, workflowRows, triggerRows, datasets] = await Promise.all([
    listWebhookPlans(db, at),
    listIngestKeyPlans(db, at),
    listRulePlans(db, at),
    listDestinationShares(db, { ...at, known: [...known.keys()] }),
    listWorkflowPlans(db, at),
    listTriggerPlans(db, at),
    listDatasetNames(db, at),
  ])
  const webhooks = webhookRows.map((row): WebhookPlan => {
    const held = {
      id: row.id,
      current: row.secret,
      previous: row.previous_secret,
      previousUntil: row.previous_secret_expires_at,
    }
    return {
      ...filingOf(row),
      id: row.id,
      slug: row.slug,
      enabled: row.enabled,
      settings: row.verification,
      secrets: secretsOf(deps, { ...held, places: ['webhooks.secret', 'webhooks.previous_secret'] }),
      allowsIp: compileIpAllowlist(row.ip_allowlist),
      origins: row.cors_origins === null ? undefined : new Set(row.cors_origins),
      handshake: handshakeOf(deps, row),
      response: compileResponse(row.response),
      reading: readingOf(row),
      idempotency: compileIdempotency(row),
      itemKeys: itemKeysOf(row),
      refusedSamples: row.refused_samples,
      quarantineHours: row.quarantine_hours,
    }
  })
  const shares = compileShares(newShares, known)
  const parts = partsOf({ rules: ruleRows, workflows: workflowRows, triggers: triggerRows }, shares)
  const plan = planOf(parts)
  await storePlan(db, { ...at, now: loadedAt, plan, parts })
  const settings = {
    planId: plan.id,
    webhooks: webhookRows.map(({ id, dataset, criteria, mappings, split, customer }) => ({
      id,
      dataset,
      criteria,
      mappings,
      split,
      customer,
    })),
    ingestKeys: keyRows.map(({ id, customer }) => ({ id, customer })),
    rules: ruleRows,
    workflows: workflowRows,
    triggers: triggerRows,
  }
  const destinations = shares.flatMap(({ plans }) => plans)
  return {
    ...compileRouting({ ...settings, webhooks: [], ingestKeys: [], destinations: [] }, destinations),
    loadedAt,
    shares,
    workspaceId: at.workspaceId,
    workspaceSlug: project.workspace_slug,
    inactive: project.inactive ?? undefined,
    limits: limitsOf(deps.plans, project.plan),
    projectId: at.projectId,
    projectSlug: project.slug,
    version: project.config_version,
    webhooks: new Map(webhooks.map((webhook) => [webhook.id, webhook])),
    webhooksBySlug: new Map(webhooks.map((webhook) => [webhook.slug, webhook])),
    ingestKeys: new Map(keyRows.map((row) => [row.id, ingestKeyOf(deps, row)])),
    source: new RoutingSource(deps.uuid, () => ({ ...settings, destinations: shares.flatMap(({ rows }) => rows) })),
    datasets: new Set(datasets),
  }
}

type Held = {
  readonly id: string
  readonly current: Buffer | null
  readonly previous: Buffer | null
  readonly previousUntil: Date | null
  readonly places: readonly [current: SealedColumn, previous: SealedColumn]
}

/** The current secret, and the previous one until its end. */
function secretsOf(deps: Deps, { id, current, previous, previousUntil, places }: Held): readonly HeldSecret[] {
  const open = (sealed: Buffer | null, of: { column: SealedColumn; until: number }): readonly HeldSecret[] =>
    sealed === null ? [] : [{ value: deps.cipher.open(sealed, secretPlace(of.column, id)).reveal(), until: of.until }]
  return [
    ...open(current, { column: places[0], until: Infinity }),
    ...open(previous, { column: places[1], until: previousUntil?.getTime() ?? 0 }),
  ]
}

function ingestKeyOf(deps: Deps, row: IngestKeyPlanRow): IngestKeyPlan {
  const {
    id,
    signing_secret: current,
    previous_signing_secret: previous,
    previous_signing_secret_expires_at: previousUntil,
  } = row
  const places = ['ingest_keys.signing_secret', 'ingest_keys.previous_signing_secret'] as const
  return {
    enabled: row.enabled,
    scopes: new Set(row.scopes),
    datasets: row.datasets === null ? null : new Set(row.datasets),
    allowsIp: compileIpAllowlist(row.ip_allowlist),
    customerOf: compileCustomer(row.customer),
    secrets: current === null ? undefined : secretsOf(deps, { id, current, previous, previousUntil, places }),
  }
}

function readingOf({ body_as: as, split }: WebhookRow): BodyReading | undefined {
  const byLine = split === 'lines'
  return as === 'contract' && !byLine ? undefined : { as, byLine }
}

function handshakeOf(deps: Deps, row: WebhookRow): HandshakePlan {
  const token =
    row.verify_token === null
      ? undefined
      : deps.cipher.open(row.verify_token, secretPlace('webhooks.verify_token', row.id)).reveal()
  return {
    ...compileHandshake(row.handshake, row.handshake_form),
    token,
    tokenHash: token === undefined ? undefined : hashCredential(token),
  }
}
