import { z } from 'zod'
import { ALERT_TYPES, ALERT_TYPE_NAMES, alertFacts } from './alert-types.ts'
import { LIMITS } from './limits.ts'
import { Text } from './list.ts'

export const AlertTypeName = z
  .string()
  .refine((name): name is keyof typeof ALERT_TYPES => Object.hasOwn(ALERT_TYPES, name), {
    error: `The type of an alert is one of ${ALERT_TYPE_NAMES.join(', ')}.`,
  })
  .meta({ enum: [...ALERT_TYPE_NAMES] })

const Threshold = z.int().min(0).max(LIMITS.alertThresholdMax)

/** Checks what depends on the type. A smaller number of days is worse, so there the critical value is the smaller one. */
function checkRule(
  { type, threshold, critical }: { type: keyof typeof ALERT_TYPES; threshold?: unknown; critical?: unknown },
  ctx: z.core.$RefinementCtx,
): void {
  const facts = alertFacts(type)
  const given = [
    ['threshold', threshold],
    ['critical', critical],
  ] as const
  for (const [member, value] of given) {
    if (typeof value !== 'number') continue
    const issue = (message: string) => ctx.addIssue({ code: 'custom', path: [member], message })
    if (facts.unit === null) issue(`${type} has no threshold. Leave it out.`)
    else if (value > facts.max || (value < 1 && member === 'threshold'))
      issue(`must be 1 to ${facts.max.toLocaleString('en')} ${facts.unit} for ${type}`)
  }
  if (typeof threshold !== 'number' || typeof critical !== 'number' || facts.unit === null) return
  const isWorse = facts.unit === 'days' ? critical <= threshold : critical >= threshold
  if (!isWorse)
    ctx.addIssue({
      code: 'custom',
      path: ['critical'],
      message: `must be at ${facts.unit === 'days' ? 'most' : 'least'} the threshold, ${threshold}`,
    })
}

const RULE = {
  type: AlertTypeName,
  enabled: z.boolean(),
  threshold: Threshold.nullable().describe('The value that opens an alert; null: the type has none.'),
  critical: Threshold.nullable().describe('The value from which on it is critical; null: never.'),
}
/** The rule of a type, whole. */
export const AlertRule = z.object({ ...RULE, type: z.enum(ALERT_TYPE_NAMES) })
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
