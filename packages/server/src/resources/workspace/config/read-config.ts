import {
  DestinationEntry,
  EndpointEntry,
  ProjectConfigHead,
  RecordViewEntry,
  RuleEntry,
  TriggerEntry,
  WorkflowEntry,
} from '@postroad/contract/project-config'
import { z } from 'zod'
import { withPlainSteps } from '../../../domain/automation/plain-steps.ts'
import { setOwn } from '../../../domain/json/own-property.ts'
import { withPlainNumbers } from '../../../domain/json/plain-numbers.ts'
import { isRawNumber } from '../../../domain/json/json-text.ts'
import { refuse } from '../../../domain/refusal.ts'
import { turnOfTheLoop } from '../../../platform/loop-turns.ts'
import { checkConditions } from '../../check-conditions.ts'
import { sentenceOf } from '../../input-sentence.ts'

const Entries = z.array(z.unknown()).optional()

const Outline = ProjectConfigHead.extend({
  endpoints: Entries,
  rules: Entries,
  record_views: Entries,
  destinations: Entries,
  workflows: Entries,
  triggers: Entries,
})

/** A configuration as it was sent, checked entry by entry; undefined: a list that it does not have. */
export type ReadConfig = {
  readonly endpoints: readonly z.output<typeof EndpointEntry>[] | undefined
  readonly rules: readonly z.output<typeof RuleEntry>[] | undefined
  readonly record_views: readonly z.output<typeof RecordViewEntry>[] | undefined
  readonly destinations: readonly z.output<typeof DestinationEntry>[] | undefined
  readonly workflows: readonly z.output<typeof WorkflowEntry>[] | undefined
  readonly triggers: readonly z.output<typeof TriggerEntry>[] | undefined
}

/**
 * Reads a configuration, or refuses it with the place of the fault. Other requests get their turn after each entry,
 * because a whole configuration may be as long as a request.
 */
export async function readConfig(config: unknown): Promise<ReadConfig> {
  const outline = parsed(Outline, outlineOf(config), 'config')
  const { endpoints, rules, record_views, destinations, workflows, triggers } = outline
  return {
    endpoints: await entriesOf('endpoints', endpoints, (entry, place) => {
      const read = parsed(EndpointEntry, entry, place)
      checkConditions(read.criteria, `${place}.criteria`)
      return read
    }),
    rules: await entriesOf('rules', rules, (entry, place) => {
      const read = parsed(RuleEntry, entry, place)
      checkConditions(read.conditions, `${place}.conditions`)
      return read
    }),
    record_views: await entriesOf('record_views', record_views, (entry, place) =>
      parsed(RecordViewEntry, entry, place),
    ),
    destinations: await entriesOf('destinations', destinations, (entry, place) => {
      const read = parsed(DestinationEntry, entry, place)
      checkConditions(read.conditions, `${place}.conditions`)
      return read
    }),
    workflows: await entriesOf('workflows', workflows, (entry, place) => {
      const read = parsed(WorkflowEntry, entry, place)
      checkConditions(read.entry_conditions, `${place}.entry_conditions`)
      return read
    }),
    triggers: await entriesOf('triggers', triggers, (entry, place) => {
      const read = parsed(TriggerEntry, entry, place)
      checkConditions(read.conditions, `${place}.conditions`)
      return read
    }),
  }
}

/** The lists stay as they came; the other members get ordinary numbers. */
function outlineOf(config: unknown): unknown {
  if (typeof config !== 'object' || config === null || isRawNumber(config)) return config
  const lists = ['endpoints', 'rules', 'record_views', 'destinations', 'workflows', 'triggers']
  return withPlainNumbers(Array.isArray(config) ? [] : { ...config }, lists)
}

/** Mappings and the payloads in steps of workflows retain every digit. */
function plainEntry(entry: unknown): unknown {
  const plain = withPlainNumbers(entry, ['mappings', 'steps'])
  if (typeof plain === 'object' && plain !== null && Object.hasOwn(plain, 'steps'))
    setOwn(plain, 'steps', withPlainSteps(Reflect.get(plain, 'steps')))
  return plain
}

async function entriesOf<Entry>(
  list: string,
  entries: readonly unknown[] | undefined,
  read: (entry: unknown, place: string) => Entry,
): Promise<readonly Entry[] | undefined> {
  if (entries === undefined) return undefined
  const all: Entry[] = []
  for (const [index, entry] of entries.entries()) {
    all.push(read(plainEntry(entry), `config.${list}[${index}]`))
    // oxlint-disable-next-line no-await-in-loop -- a turn for others after each
    await turnOfTheLoop()
  }
  return all
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
