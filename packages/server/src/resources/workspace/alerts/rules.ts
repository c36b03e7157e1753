import { ALERT_TYPE_NAMES, alertFacts, type AlertRule, type AlertType } from '@postroad/contract'
import type { RuleRow } from './queries.ts'

export type GivenRule = {
  readonly type: AlertType
  readonly enabled?: boolean | undefined
  readonly threshold?: number | null | undefined
  readonly critical?: number | null | undefined
}

export const defaultRule = (type: AlertType): AlertRule => {
  const { threshold, critical } = alertFacts(type)
  return { type, enabled: true, threshold, critical }
}

/** The rules of all types, in the order of the types. */
export function allRules(rows: readonly RuleRow[]): AlertRule[] {
  const known = new Map(rows.map((row) => [row.type, row]))
  return ALERT_TYPE_NAMES.map((type) => ({ ...defaultRule(type), ...known.get(type) }))
}

/** A rule with every member: one that is left out is as `otherwise` has it. A new threshold takes a critical value along that it passed. */
export function wholeRule(given: GivenRule, otherwise: AlertRule = defaultRule(given.type)): AlertRule {
  const threshold = given.threshold ?? otherwise.threshold
  const critical = given.critical === undefined ? otherwise.critical : given.critical
  return {
    type: given.type,
    enabled: given.enabled ?? otherwise.enabled,
    threshold,
    critical: given.critical === undefined && isPassed(given.type, { threshold, critical }) ? threshold : critical,
  }
}

/** Whether a critical value would be less bad than the threshold. */
export function isPassed(type: AlertType, { threshold, critical }: Pick<AlertRule, 'threshold' | 'critical'>): boolean {
  if (threshold === null || critical === null) return false
  return alertFacts(type).unit === 'days' ? critical > threshold : critical < threshold
}

export const isDefault = (rule: AlertRule): boolean => {
  const { enabled, threshold, critical } = defaultRule(rule.type)
  return rule.enabled === enabled && rule.threshold === threshold && rule.critical === critical
}
