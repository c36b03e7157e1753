import { Conditions, decodeId, encodeId, LIMITS, type AgentTool } from '@postroad/contract'
import { z } from 'zod'
import { finish } from '../../domain/in-turns.ts'
import { parseJson } from '../../domain/json/json-text.ts'
import { compileConditions } from '../../domain/routing/condition.ts'
import type { Db } from '../../platform/db.ts'
import { PacedWork } from '../../platform/paced-work.ts'
import { listDatasetNames } from '../../resources/capture/datasets/queries.ts'
import { findRecord, listRecords, type RecordRow } from '../../resources/capture/records/queries.ts'
import type { ToolDefinition } from './model.ts'

/** The tools of agents. They see one project, and none of them changes or deletes anything: `emit_event` adds a record. */

const SearchInput = z.strictObject({
  dataset: z.string(),
  conditions: Conditions.default([]),
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

/** Runs a tool that only reads. */
export async function readByTool(
  db: Db,
  at: At,
  { tool, input }: { readonly tool: Exclude<AgentTool, 'emit_event'>; readonly input: unknown },
): Promise<Tried> {
  switch (tool) {
    case 'list_datasets':
      return { ok: true, output: await listDatasetNames(db, at) }
    case 'search_records':
      return search(db, at, SearchInput.safeParse(input))
    case 'get_record': {
      const id = decodeId('record', GetInput.safeParse(input).data?.id ?? '')
      const row = id === undefined ? undefined : await findRecord(db, { ...at, id })
      return row === undefined ? { ok: false, error: 'There is no record with this id.' } : fitting(shownRecord(row))
    }
  }
}

async function search(db: Db, at: At, input: z.ZodSafeParseResult<z.infer<typeof SearchInput>>): Promise<Tried> {
  if (!input.success) return { ok: false, error: sentenceOf(input.error) }
  const { dataset: name, conditions, limit } = input.data
  const compiled = compileConditions(conditions, 'text')
  const rows = await listRecords(db, {
    ...at,
    fromId: null,
    toId: null,
    dataset: name,
    before: null,
    limit: conditions.length === 0 ? limit : LIMITS.agentToolLookedMax,
  })
  const work = new PacedWork(LIMITS.dryRunWorkMax)
  const found: RecordRow[] = []
  for (const row of rows) {
    if (found.length >= limit || work.usedUp) break
    const parsed = parseJson(row.data)
    if (!parsed.ok) continue
    // oxlint-disable-next-line no-await-in-loop -- the work so far decides whether there is more
    await work.spend(row.data.length)
    // oxlint-disable-next-line no-await-in-loop -- as above
    if ((await finish(compiled.firstFailure(parsed.value, work.spend))) === undefined) found.push(row)
  }
  return fitting(found.map(shownRecord))
}

const shownRecord = ({ id, dataset: name, received_at: at, data }: RecordRow) => ({
  id: encodeId('record', id),
  dataset: name,
  received_at: at.toISOString(),
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON of any shape
  data: JSON.parse(data) as unknown,
})

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
