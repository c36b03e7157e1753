import { decodeId, verifyTokenNeed, type HandshakeSettings, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { triggers } from '../../automation/triggers/index.ts'
import { workflows } from '../../automation/workflows/index.ts'
import { quarantine } from '../../capture/quarantine/index.ts'
import { recordViews } from '../../capture/record-views/index.ts'
import { rules } from '../../capture/rules/index.ts'
import { updateWithoutSecret, webhooks } from '../../capture/webhooks/index.ts'
import { sinkUrl } from '../../delivery/destination-sinks/index.ts'
import {
  changeDestination,
  checkChangeOf,
  checkNewDestination,
  destinations,
  insertNewDestination,
} from '../../delivery/destinations/index.ts'
import {
  changeTransform,
  checkCode,
  insertNewTransform,
  listTransformNames,
  transforms,
} from '../../delivery/transforms/index.ts'
import { alerts, defaultRule } from '../alerts/index.ts'
import type { DestinationEntry, EndpointEntry, WorkflowEntry } from './entries.ts'
import type { Change, Item, Plan } from './plan.ts'
import { agentIdOf, idsFor, readReferences, renamed } from './references.ts'

/**
 * Runs the checks of the rooms before anything is written. They resolve host names and compile code, so this comes before the
 * transaction.
 */
export async function checkEntries(ctx: Ctx, { destinations: steps, transforms: programs }: Plan): Promise<void> {
  for (const step of [...programs.create, ...programs.change])
    // oxlint-disable-next-line no-await-in-loop -- a workspace has few threads
    await named(step, () => checkCode(ctx, step.entry))
  const checks = [
    ...steps.create.map((step) => ({
      ...step,
      check: () =>
        checkNewDestination(
          ctx,
          newDestination(step.entry, { url: step.entry.url ?? sinkUrl(ctx, ctx.uuid()), idOf: () => ctx.uuid() }),
        ),
    })),
    ...steps.change.map((step) => ({
      ...step,
      check: () =>
        checkChangeOf(
          ctx,
          step.now.row,
          destinationChange(ctx, step, () => ctx.uuid()),
        ),
    })),
  ]
  for (let at = 0; at < checks.length; at += CHECKS_AT_ONCE) {
    // oxlint-disable-next-line no-await-in-loop -- limits the names that are resolved at a time
    await Promise.all(checks.slice(at, at + CHECKS_AT_ONCE).map((step) => named(step, step.check)))
  }
}

const CHECKS_AT_ONCE = 20

/** Makes the changes of the plan with the verbs of the rooms, which decide, limit and audit as usual. */
export async function applyPlan(tx: Ctx, plan: Plan): Promise<void> {
  // One connection, one change after another, in an order in which each finds the entries that it needs.
  /* oxlint-disable no-await-in-loop */
  await applyDeletions(tx, plan)
  const endpoints = await applyEndpoints(tx, plan)
  for (const step of plan.rules.change)
    await named(step, () => rules.update(tx, { id: step.now.id, ...changed(step.entry, step.changes) }))
  for (const step of plan.rules.create) await named(step, () => rules.create(tx, step.entry))
  const idOf = await applyTransforms(tx, plan)
  for (const step of plan.destinations.change)
    await named(step, () => changeDestination(tx, destinationChange(tx, step, idOf)))
  for (const step of plan.destinations.create) {
    const id = tx.uuid()
    const input = newDestination(step.entry, { url: step.entry.url ?? sinkUrl(tx, id), idOf })
    await named(step, () => insertNewDestination(tx, { id, input }))
  }
  for (const { now, entry, changes, ...item } of plan.record_views.change)
    await named(item, () => recordViews.update(tx, { id: now.webhookId, view_id: now.id, ...changed(entry, changes) }))
  for (const { entry, ...item } of plan.record_views.create) {
    const { dataset: _dataset, endpoint, ...view } = entry
    await named(item, () => recordViews.create(tx, { id: endpoints.get(endpoint) ?? '', ...view }))
  }
  await applyAutomation(tx, plan)
  await applyAlerts(tx, plan)
  // No destination runs them any more.
  for (const step of plan.transforms.delete) await named(step, () => transforms.remove(tx, step.now))
}

type IdOf = (transform: string) => string

/** Changes and creates transforms. Returns the ids of all of them by their names. */
async function applyTransforms(tx: Ctx, { transforms: steps }: Plan): Promise<IdOf> {
  for (const step of steps.change) {
    const { name: _name, ...members } = changed(step.entry, step.changes)
    await named(step, () => changeTransform(tx, { id: step.now.id, code: step.entry.code, ...members }))
  }
  for (const step of steps.create) await named(step, () => insertNewTransform(tx, step.entry))
  const ids = new Map((await listTransformNames(tx.db, tx)).map(({ id, name }) => [name, id]))
  return (name) => ids.get(name) ?? ''
}

/** A rule that is deleted is that of its type again. */
async function applyAlerts(tx: Ctx, { alert_rules: rulesOf, quiet_hours: hours }: Plan): Promise<void> {
  const written = [...rulesOf.create, ...rulesOf.change].map(({ entry }) => entry)
  const deleted = rulesOf.delete.map(({ now }) => defaultRule(now.entry.type))
  const isHoursChanged = hours.create.length + hours.change.length + hours.delete.length > 0
  if (written.length + deleted.length === 0 && !isHoursChanged) return
  const stay = [
    ...[...hours.unchanged, ...hours.rest].map(({ now }) => now.entry),
    ...hours.unmanaged.map(({ entry }) => entry),
  ]
  const quiet_hours = [...stay, ...[...hours.create, ...hours.change].map(({ entry }) => entry)]
  await alerts.updateSettings(tx, {
    rules: [...written, ...deleted],
    ...(isHoursChanged ? { quiet_hours } : {}),
  })
}

/** A workflow goes before the destinations that it names, and a view before its endpoint. */
async function applyDeletions(tx: Ctx, plan: Plan): Promise<void> {
  for (const step of plan.triggers.delete) await named(step, () => triggers.remove(tx, step.now))
  for (const step of plan.workflows.delete) await named(step, () => workflows.remove(tx, step.now))
  for (const step of plan.record_views.delete)
    await named(step, () => recordViews.remove(tx, { id: step.now.webhookId, view_id: step.now.id }))
  for (const step of plan.rules.delete) await named(step, () => rules.remove(tx, step.now))
  for (const step of plan.destinations.delete) await named(step, () => destinations.remove(tx, step.now))
  for (const step of plan.endpoints.delete) await named(step, () => webhooks.remove(tx, step.now))
}

/** Comes last, because workflows name destinations that the same plan may create. */
async function applyAutomation(tx: Ctx, { workflows: flows, triggers: runners }: Plan): Promise<void> {
  const references = await readReferences(tx)
  const ids = idsFor(references)
  const definition = ({ slug, steps, ...entry }: WorkflowEntry) => ({
    ...entry,
    ...(slug === undefined ? {} : { slug }),
    steps: renamed(steps, ids),
  })
  for (const step of flows.change)
    await named(step, () => workflows.replace(tx, { id: step.now.id, ...definition(step.entry) }))
  for (const step of flows.create) await named(step, () => workflows.create(tx, definition(step.entry)))
  const trigger = <Members extends { readonly agent?: string }>({ agent, ...entry }: Members) => ({
    ...entry,
    ...(agent === undefined ? {} : { agent_id: agentIdOf(references, agent) ?? '' }),
  })
  for (const step of runners.change)
    await named(step, () => triggers.update(tx, { id: step.now.id, ...trigger(changed(step.entry, step.changes)) }))
  for (const { entry, ...item } of runners.create)
    await named(item, () =>
      triggers.create(tx, { ...trigger(entry), agent_id: agentIdOf(references, entry.agent) ?? '' }),
    )
}

/** Returns the ids of all endpoints by their slugs. */
async function applyEndpoints(tx: Ctx, { endpoints }: Plan): Promise<ReadonlyMap<string, string>> {
  const ids = new Map([
    ...[...endpoints.unchanged, ...endpoints.rest, ...endpoints.change].map(
      ({ now }) => [now.entry.slug, now.id] as const,
    ),
    ...endpoints.unmanaged.map(({ id, entry }) => [entry.slug, id] as const),
  ])
  for (const step of endpoints.change) {
    const { quarantine_hours: hours, ...members } = changed(step.entry, step.changes)
    const { id } = step.now
    if (Object.keys(members).length > 0) await named(step, () => updateWithoutSecret(tx, { id, ...members }))
    if (hours !== undefined) await named(step, () => quarantine.update(tx, { id, hours }))
  }
  for (const step of endpoints.create) {
    const { quarantine_hours: hours } = step.entry
    const { webhook } = await named(step, () => webhooks.create(tx, newEndpoint(step.entry)))
    const id = decodeId('webhook', webhook.id) ?? ''
    ids.set(step.entry.slug, id)
    if (hours > 0) await named(step, () => quarantine.update(tx, { id, hours }))
  }
  return ids
}

function newEndpoint({
  verification = { scheme: 'none' },
  handshake,
  quarantine_hours: _hours,
  ...entry
}: EndpointEntry) {
  return {
    ...entry,
    verification: verification.scheme === 'none' ? verification : { ...verification, without_secret: true as const },
    // A handshake that compares a token stays off until there is one.
    handshake: isWithoutToken(handshake) ? handshake : { kind: 'none' as const },
  }
}

/** The plan has replaced a handshake without its token already; this proves it. */
const isWithoutToken = (
  handshake: HandshakeSettings,
): handshake is Exclude<HandshakeSettings, { kind: 'hub_challenge' }> => verifyTokenNeed(handshake) !== 'required'

type NewDestination = RouteInput<Routes['destinations']['create']>
type ChangedDestination = RouteInput<Routes['destinations']['update']>

/** A new entry contains no setting that needs a secret. */
function newDestination(
  { headers: _headers, auth: _auth, transform, ...entry }: DestinationEntry,
  { url, idOf }: { readonly url: string; readonly idOf: IdOf },
): NewDestination {
  return {
    ...entry,
    transform_id: transform === null ? null : idOf(transform),
    url,
    headers: {},
    auth: { kind: 'none' },
  }
}

// oxlint-disable-next-line max-params -- the context, the change, and the ids of transforms
function destinationChange(
  ctx: Ctx,
  { entry, now, changes }: Plan['destinations']['change'][number],
  idOf: IdOf,
): ChangedDestination {
  const { headers, auth, url, transform, ...members } = changed(entry, changes)
  return {
    id: now.id,
    ...members,
    ...(transform === undefined ? {} : { transform_id: transform === null ? null : idOf(transform) }),
    ...(url === undefined ? {} : { url: url ?? sinkUrl(ctx, now.id) }),
    ...(headers === undefined ? {} : { headers: Object.fromEntries(headers.map((name) => [name, null])) }),
    ...(auth === undefined ? {} : { auth: auth ?? { kind: 'none' } }),
  }
}

/** The members of an entry that differ from the present ones. */
function changed<Entry extends object>(entry: Entry, changes: readonly Change[]): Partial<Entry> {
  const members = new Set(changes.map(({ member }) => member))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- some of its members
  return Object.fromEntries(Object.entries(entry).filter(([member]) => members.has(member))) as Partial<Entry>
}

/** Adds the name of the entry to a refusal of its room. */
async function named<Result>({ kind, identity }: Item, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(error.reason, {
      text: `${kind.replace('_', ' ')} "${identity}": ${error.message}`,
      fields: error.fields,
      cause: error,
    })
  }
}
