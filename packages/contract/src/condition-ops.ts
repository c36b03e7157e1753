/** Conditions have one syntax, in rules, endpoint criteria and everywhere else (contract part 2, "Condition"). */
export const CONDITION_OPS = [
  'equals',
  'not_equals',
  'contains',
  'exists',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'regex',
] as const
export type ConditionOp = (typeof CONDITION_OPS)[number]
