/** The alerts of a project: its causes for attention. The loop in pipeline/alerts opens and resolves alerts (docs/adr/0411). */
import {
  alertFacts,
  decodeId,
  encodeId,
  ID_PREFIXES,
  LIMITS,
  ALERT_TYPE_NAMES,
  type IdKind,
  type RouteInput,
  type Routes,
} from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, readPage } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { actorNames, audit } from '../audit/index.ts'
import { lockProject } from '../projects/index.ts'
import { createChannel } from './channels.ts'
import { presentAlert } from './present.ts'
import {
  countOpenAlerts,
  deleteAlertRules,
  findAlert,
  listAlertEvents,
  listAlertRules,
  listAlerts,
  listQuietHours,
  muteAlert,
  putAlertRules,
  putQuietHours,
  unmuteAlert,
  type AlertRow,
} from './queries.ts'
import { allRules, isDefault, isPassed, wholeRule } from './rules.ts'

export { defaultRule, isDefault as isDefaultRule, wholeRule } from './rules.ts'
export { readCertificates } from './certificates.ts'

export const alerts: Room<'alerts'> = {
  list: async (ctx, { limit, cursor, state, type, subject }) => {
    const before = afterCursor(cursor)
    const asked = { state: state ?? null, type: type ?? null, subjectId: subject === undefined ? null : idIn(subject) }
    const [{ rows, next_cursor }, open] = await Promise.all([
      readPage(ctx.db, { limit, list: (db, most) => listAlerts(db, { ...ctx, ...asked, before, limit: most }) }),
      countOpenAlerts(ctx.db, ctx),
    ])
    return { alerts: rows.map(presentAlert), next_cursor, open }
  },

  types: () =>
    Promise.resolve({
      alert_types: ALERT_TYPE_NAMES.map((type) => {
        const { meaning, resolved, unit, threshold, critical, max } = alertFacts(type)
        return {
          type,
          meaning,
          resolved_type: resolved,
          unit,
          default_threshold: threshold,
          default_critical: critical,
          max,
        }
      }),
    }),

  settings: (ctx) => readSettings(ctx),

  updateSettings: (ctx, input) =>
    inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      const before = await readSettings(tx)
      await changeRules(tx, { given: input.rules ?? [], before: before.rules })
      if (input.quiet_hours !== undefined) {
        checkNames(input.quiet_hours)
        await putQuietHours(tx.db, { ...tx, rows: input.quiet_hours })
      }
      const after = await readSettings(tx)
      await audit(tx, {
        action: 'update_alert_settings',
        target: encodeId('project', tx.projectId),
        change: { before, after },
      })
      return after
    }),

  createChannel,

  get: async (ctx, { id }) => {
    const [row, events] = await Promise.all([found(ctx, { id }), listAlertEvents(ctx.db, { ...ctx, id })])
    return {
      alert: presentAlert(row),
      events: events.map((event) => ({
        event_id: encodeId('record', event.record_id),
        change: event.change,
        at: event.at.toISOString(),
      })),
    }
  },

  mute: (ctx, { id, until }) => {
    if (until !== undefined && until.getTime() <= ctx.clock.now())
      throw refuse('invalid_request', 'until must be in the future. Leave it out to mute the alert until it resolves.')
    return inTransaction(ctx, async (tx) => {
      const before = await openOnly(tx, id)
      await muteAlert(tx.db, { ...tx, id, until: until ?? null, by: actorNames(tx).actor })
      const after = presentAlert(await found(tx, { id }))
      await audit(tx, { action: 'mute_alert', target: after.id, change: { before, after } })
      return { alert: after }
    })
  },

  unmute: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const before = await openOnly(tx, id)
      await unmuteAlert(tx.db, { ...tx, id })
      const after = presentAlert(await found(tx, { id }))
      await audit(tx, { action: 'unmute_alert', target: after.id, change: { before, after } })
      return { alert: after }
    }),
}

/** Locks an open alert. */
async function openOnly(tx: Ctx, id: string) {
  const row = await found(tx, { id, lock: true })
  if (row.resolved_at !== null) throw refuse('alert_resolved')
  return presentAlert(row)
}

async function found(ctx: Ctx, asked: { id: string; lock?: boolean }): Promise<AlertRow> {
  const row = await findAlert(ctx.db, { ...ctx, ...asked })
  if (row === undefined) throw refuse('not_found')
  return row
}

async function readSettings(ctx: Ctx) {
  const [rules, hours] = await Promise.all([listAlertRules(ctx.db, ctx), listQuietHours(ctx.db, ctx)])
  return { rules: allRules(rules), quiet_hours: [...hours] }
}

type Changing = {
  readonly given: NonNullable<RouteInput<Routes['alerts']['updateSettings']>['rules']>
  readonly before: ReturnType<typeof allRules>
}

async function changeRules(tx: Ctx, { given, before }: Changing): Promise<void> {
  const known = new Map(before.map((rule) => [rule.type, rule]))
  const twice = given.find(({ type }, index) => given.findIndex((other) => other.type === type) !== index)
  if (twice !== undefined)
    throw refuse('invalid_request', `rules: ${twice.type} is there twice. Send one rule for each type.`)
  const wanted = given.map((rule) => wholeRule(rule, known.get(rule.type)))
  const wrong = wanted.find((rule) => isPassed(rule.type, rule))
  if (wrong !== undefined)
    throw refuse(
      'invalid_request',
      `rules: the critical value of ${wrong.type}, ${wrong.critical}, is less bad than its threshold, ${wrong.threshold}. Change critical too, or set it to null.`,
    )
  const custom = wanted.filter((rule) => !isDefault(rule))
  await deleteAlertRules(tx.db, { ...tx, types: wanted.filter(isDefault).map(({ type }) => type) })
  if (custom.length > 0) await putAlertRules(tx.db, { ...tx, rows: custom, now: new Date(tx.clock.now()) })
}

function checkNames(hours: readonly { readonly name: string }[]): void {
  if (hours.length > LIMITS.quietHoursPerProjectMax)
    throw refuse(
      'invalid_request',
      `quiet_hours: a project can have at most ${LIMITS.quietHoursPerProjectMax} of them.`,
    )
  const twice = hours.find(({ name }, index) => hours.findIndex((other) => other.name === name) !== index)
  if (twice !== undefined)
    throw refuse('invalid_request', `quiet_hours: the name ${twice.name} is there twice. Give each a separate name.`)
}

/** The UUID of an id of any kind. */
function idIn(text: string): string {
  const kinds = Object.entries(ID_PREFIXES)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the object
  const kind = kinds.find(([, prefix]) => text.startsWith(`${prefix}_`))?.[0] as IdKind | undefined
  const id = kind === undefined ? undefined : decodeId(kind, text)
  if (id === undefined)
    throw refuse('invalid_request', 'subject must be the id of a part of the project, such as dst_….')
  return id
}
