import {
  AlertRuleEntry,
  DestinationEntry,
  EndpointEntry,
  ProjectConfigHead,
  QuietHours,
  RecordViewEntry,
  RuleEntry,
  TransformEntry,
  TriggerEntry,
  WorkflowEntry,
} from '@postroad/contract/project-config'
import { z } from 'zod'
import { withPlainSteps } from '../domain/automation/plain-steps.ts'
import { setOwn } from '../domain/json/own-property.ts'
import { withPlainNumbers } from '../domain/json/plain-numbers.ts'
import { isRawNumber, parseStoredJson, stringifyJson } from '../domain/json/json-text.ts'
import { refuse, Refusal } from '../domain/refusal.ts'
import { checkConditions } from '../resources/check-conditions.ts'
import { sentenceOf } from '../resources/input-sentence.ts'

const Entries = z.array(z.unknown()).optional()

const Outline = ProjectConfigHead.extend({
  endpoints: Entries,
  rules: Entries,
  record_views: Entries,
  transforms: Entries,
  destinations: Entries,
  workflows: Entries,
  triggers: Entries,
  alert_rules: Entries,
  quiet_hours: Entries,
})

/** A configuration as it was sent, checked entry by entry; undefined: a list that it does not have. */
export type ReadConfig = {
  readonly endpoints: readonly z.output<typeof EndpointEntry>[] | undefined
  readonly rules: readonly z.output<typeof RuleEntry>[] | undefined
  readonly record_views: readonly z.output<typeof RecordViewEntry>[] | undefined
  readonly transforms: readonly z.output<typeof TransformEntry>[] | undefined
  readonly destinations: readonly z.output<typeof DestinationEntry>[] | undefined
  readonly workflows: readonly z.output<typeof WorkflowEntry>[] | undefined
  readonly triggers: readonly z.output<typeof TriggerEntry>[] | undefined
  readonly alert_rules: readonly z.output<typeof AlertRuleEntry>[] | undefined
  readonly quiet_hours: readonly z.output<typeof QuietHours>[] | undefined
}

/** A configuration that was sent, as JSON; or the sentence that refuses it, with the place of the fault. */
export function configOf(text: string): { readonly config: string } | { readonly refused: string } {
  const sent = parseStoredJson(text)
  try {
    return { config: stringifyJson(readConfig(sent.ok ? sent.value : null)) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { refused: error.message }
  }
}

function readConfig(config: unknown): ReadConfig {
  const outline = parsed(Outline, outlineOf(config), 'config')
  const { endpoints, rules, record_views, transforms, destinations, workflows, triggers, alert_rules, quiet_hours } =
    outline
  return {
    endpoints: entriesOf('endpoints', endpoints, (entry, place) => {
      const read = parsed(EndpointEntry, entry, place)
      checkConditions(read.criteria, `${place}.criteria`)
      return read
    }),
    rules: entriesOf('rules', rules, (entry, place) => {
      const read = parsed(RuleEntry, entry, place)
      checkConditions(read.conditions, `${place}.conditions`)
      return read
    }),
    record_views: entriesOf('record_views', record_views, (entry, place) => parsed(RecordViewEntry, entry, place)),
    transforms: entriesOf('transforms', transforms, (entry, place) => parsed(TransformEntry, entry, place)),
    destinations: entriesOf('destinations', destinations, (entry, place) => {
      const read = parsed(DestinationEntry, entry, place)
      checkConditions(read.conditions, `${place}.conditions`)
      return read
    }),
    workflows: entriesOf('workflows', workflows, (entry, place) => {
      const read = parsed(WorkflowEntry, entry, place)
      checkConditions(read.entry_conditions, `${place}.entry_conditions`)
      return read
    }),
    triggers: entriesOf('triggers', triggers, (entry, place) => {
      const read = parsed(TriggerEntry, entry, place)
      checkConditions(read.conditions, `${place}.conditions`)
      return read
    }),
    alert_rules: entriesOf('alert_rules', alert_rules, (entry, place) => parsed(AlertRuleEntry, entry, place)),
    quiet_hours: entriesOf('quiet_hours', quiet_hours, (entry, place) => parsed(QuietHours, entry, place)),
  }
}

/** The lists stay as they came; the other members get ordinary numbers. */
function outlineOf(config: unknown): unknown {
  if (typeof config !== 'object' || config === null || isRawNumber(config)) return config
  const lists = [
    'endpoints',
    'rules',
    'record_views',
    'transforms',
    'destinations',
    'workflows',
    'triggers',
    'alert_rules',
    'quiet_hours',
  ]
  return withPlainNumbers(Array.isArray(config) ? [] : { ...config }, lists)
}

/** Mappings and the payloads in steps of workflows retain every digit. */
function plainEntry(entry: unknown): unknown {
  const plain = withPlainNumbers(entry, ['mappings', 'steps'])
  if (typeof plain === 'object' && plain !== null && Object.hasOwn(plain, 'steps'))
    setOwn(plain, 'steps', withPlainSteps(Reflect.get(plain, 'steps')))
  return plain
}

function entriesOf<Entry>(
  list: string,
  entries: readonly unknown[] | undefined,
  read: (entry: unknown, place: string) => Entry,
): readonly Entry[] | undefined {
  return entries?.map((entry, index) => read(plainEntry(entry), `config.${list}[${index}]`))
}

// oxlint-disable-next-line max-params -- the schema, the value, and its place
function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown, place: string): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const path = place
    .split(/\.|\[|\]/)
    .filter((step) => step !== '')
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  const issues = result.error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }))
  throw refuse('invalid_request', sentenceOf(issues, { value, where: 'body' }))
}
