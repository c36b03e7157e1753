import { Conditions, DATASET_NAME, decodeId, encodeId, LIMITS, type AgentTool } from '@postroad/contract'
import { z } from 'zod'
import { parseStoredJson } from '../../domain/json/json-text.ts'
import { validatePattern } from '../../domain/routing/regex/bounds.ts'
import type { Db } from '../../platform/db.ts'
import { WorkCounter } from '../../domain/work-budget.ts'
import type { Heavy } from '../../platform/heavy/heavy.ts'
import { listDatasetNames } from '../../resources/capture/datasets/queries.ts'
import { lookThrough } from '../../resources/capture/payloads/index.ts'
import { findRecord, listRecords, type RecordRow } from '../../resources/capture/records/queries.ts'
import type { ToolDefinition } from './model.ts'

/** The tools of agents. They see one project, and none of them changes or deletes anything: `emit_event` adds a record. */

/** A model may send any text, so a pattern and a name are checked as if a person saved them. */
const SearchInput = z.strictObject({
  dataset: z.string().regex(DATASET_NAME, 'is not the name of a dataset'),
  conditions: Conditions.superRefine((conditions, ctx) => {
    for (const [index, condition] of conditions.entries()) {
      const why = 'op' in condition && condition.op === 'regex' ? validatePattern(condition.value) : undefined
      if (why !== undefined) ctx.addIssue({ code: 'custom', path: [index, 'value'], message: why })
    }
  }).default([]),
  limit: z.int().min(1).max(LIMITS.agentToolRecordsMax).default(5),
})
const GetInput = z.strictObject({ id: z.string() })
export const EmitInput = z.strictObject({ dataset: z.string(), data: z.unknown() })

const dataset = { type: 'string', description: 'The name of a dataset.' }

export const TOOLS: Readonly<Record<AgentTool, ToolDefinition>> = {
  list_datasets: {
    name: 'list_datasets',
    description: 'Lists the names of the datasets of the project.',
    schema: { type: 'object', properties: {}, additionalProperties: false },
  },
  search_records: {
    name: 'search_records',
    description: `Returns the newest records of a dataset that match all conditions, at most ${LIMITS.agentToolRecordsMax}. It looks at the newest ${LIMITS.agentToolLookedMax} records.`,
    schema: {
      type: 'object',
      properties: {
        dataset,
        conditions: {
          type: 'array',
          items: {
            type: 'object',
            properties: { path: { type: 'string' }, equals: { type: ['string', 'number', 'boolean'] } },
            required: ['path', 'equals'],
          },
        },
        limit: { type: 'integer', minimum: 1, maximum: LIMITS.agentToolRecordsMax },
      },
      required: ['dataset'],
      additionalProperties: false,
    },
  },
  get_record: {
    name: 'get_record',
    description: 'Returns one record by its id.',
    schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false },
  },
  emit_event: {
    name: 'emit_event',
    description: 'Stores a new record in a dataset. It is routed and delivered like any event.',
    schema: {
      type: 'object',
      properties: { dataset, data: { type: 'object', description: 'The payload.' } },
      required: ['dataset', 'data'],
      additionalProperties: false,
    },
  },
}

type At = { readonly workspaceId: string; readonly projectId: string }
type Tried = { readonly ok: true; readonly output: unknown } | { readonly ok: false; readonly error: string }

/** A tool reads a workspace, and threads look at its records. */
type Tools = { readonly db: Db; readonly heavy: Heavy }

/** Runs a tool that only reads. */
export async function readByTool(
  deps: Tools,
  at: At,
  { tool, input }: { readonly tool: Exclude<AgentTool, 'emit_event'>; readonly input: unknown },
): Promise<Tried> {
  switch (tool) {
    case 'list_datasets':
      return { ok: true, output: await listDatasetNames(deps.db, at) }
    case 'search_records':
      return search(deps, at, SearchInput.safeParse(input))
    case 'get_record': {
      const id = decodeId('record', GetInput.safeParse(input).data?.id ?? '')
      const row = id === undefined ? undefined : await findRecord(deps.db, { ...at, id })
      return row === undefined ? { ok: false, error: 'There is no record with this id.' } : fitting(shownRecord(row))
    }
  }
}

async function search(deps: Tools, at: At, input: z.ZodSafeParseResult<z.infer<typeof SearchInput>>): Promise<Tried> {
  if (!input.success) return { ok: false, error: sentenceOf(input.error) }
  const { dataset: name, conditions, limit } = input.data
  const work = new WorkCounter(LIMITS.dryRunWorkMax)
  const found: RecordRow[] = []
  let [before, looked]: [string | null, number] = [null, 0]
  while (looked < LIMITS.agentToolLookedMax && found.length < limit && !work.usedUp) {
    const asked = { ...at, fromId: null, toId: null, dataset: name, before, ...PAGE }
    // oxlint-disable-next-line no-await-in-loop -- page after page
    const { rows, more } = await listRecords(deps.db, asked)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const matched = await lookThrough({ ...deps, ...at }, rows, {
      read: (batch) => batch.map(({ data }) => ({ payload: data })),
      bytesOf: ({ data }) => data.length,
      filter: { conditions, text: null },
      work,
    })
    found.push(...matched.found)
    looked += rows.length
    before = rows.at(-1)?.id ?? null
    if (!more) break
  }
  return fitting(found.slice(0, limit).map(shownRecord))
}

/** A few at a time, because payloads may be large. */
const PAGE = { limit: LIMITS.agentToolRecordsMax, bytesMax: LIMITS.recordsListBytesMax }

/** The digits of a long number are an id, so none may change on the way to the model. */
function shownRecord({ id, dataset: name, received_at: at, data }: RecordRow) {
  const parsed = parseStoredJson(data)
  return {
    id: encodeId('record', id),
    dataset: name,
    received_at: at.toISOString(),
    data: parsed.ok ? parsed.value : null,
  }
}

/** A result that the model can still read. */
function fitting(output: unknown): Tried {
  const size = JSON.stringify(output).length
  if (size <= LIMITS.agentToolResultCharsMax) return { ok: true, output }
  const error = `The result has ${size} characters, and at most ${LIMITS.agentToolResultCharsMax} are returned. Ask for fewer records.`
  return { ok: false, error }
}

export function sentenceOf(error: z.ZodError): string {
  const [issue] = error.issues
  return `The arguments are not valid. ${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? ''}`
}
