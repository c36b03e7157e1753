import { z } from 'zod'
import { ALERT_TYPE_NAMES, alertFacts, type AlertType } from './alert-types.ts'
import { LIMITS } from './limits.ts'
import { Text } from './list.ts'

export const AlertTypeName = z.enum(ALERT_TYPE_NAMES, `The type of an alert is one of ${ALERT_TYPE_NAMES.join(', ')}.`)

const Threshold = z.int().min(0).max(LIMITS.alertThresholdMax)

type Given = { type: AlertType; threshold?: unknown; critical?: unknown }

/** Checks what depends on the type. A smaller number of days is worse, so there the critical value is the smaller one. */
function checkRule({ type, threshold, critical }: Given, ctx: z.core.$RefinementCtx): void {
  const isDays = alertFacts(type).unit === 'days'
  const issue = (member: string, message: string | undefined): void => {
    if (message !== undefined) ctx.addIssue({ code: 'custom', path: [member], message })
  }
  issue('threshold', valueProblem(type, { value: threshold, least: 1 }))
  issue('critical', valueProblem(type, { value: critical, least: 0 }))
  if (typeof threshold !== 'number' || typeof critical !== 'number') return
  if (isDays ? critical > threshold : critical < threshold)
    issue('critical', `must be at ${isDays ? 'most' : 'least'} the threshold, ${threshold}`)
}

function valueProblem(
  type: Given['type'],
  of: { readonly value: unknown; readonly least: number },
): string | undefined {
  const { unit, max } = alertFacts(type)
  if (typeof of.value !== 'number') return undefined
  if (unit === null) return `${type} has no threshold. Leave it out.`
  const fits = of.value >= of.least && of.value <= max
  return fits ? undefined : `must be ${of.least} to ${max.toLocaleString('en')} ${unit} for ${type}`
}

const RULE = {
  type: AlertTypeName,
  enabled: z.boolean(),
  threshold: Threshold.nullable().describe('The value that opens an alert; null: the type has none.'),
  critical: Threshold.nullable().describe('The value from which on it is critical; null: never.'),
}
/** The rule of a type, whole. */
export const AlertRule = z.object(RULE)
export type AlertRule = z.output<typeof AlertRule>

/** A rule in a request or a configuration. */
export const AlertRuleEntry = z
  .strictObject({
    type: AlertTypeName.describe('The identity of the rule.'),
    enabled: RULE.enabled.optional().describe('Absent: true.'),
    threshold: RULE.threshold.optional().describe('Absent or null: that of the type.'),
    critical: RULE.critical.optional().describe('Absent: that of the type. null: never.'),
  })
  .superRefine(checkRule)

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

const Clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day, such as 22:00')
const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be an IANA time zone, such as Europe/Berlin')
  .describe('An IANA time zone.')

export const QuietHours = z
  .strictObject({
    name: Text.trim().min(1).max(LIMITS.alertNameCharsMax).describe('The identity of the quiet hours.'),
    days: z
      .array(z.enum(WEEKDAYS))
      .min(1)
      .max(7)
      .refine((days) => new Set(days).size === days.length, 'each day may be named once')
      .describe('The days on which they begin.'),
    from: Clock,
    to: Clock.describe('The end. Not after `from`: on the next day.'),
    time_zone: TimeZone,
  })
  .describe('Nothing but critical alerts is sent in this time. Alerts that are still open when it ends are sent then.')
export type QuietHours = z.output<typeof QuietHours>

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
