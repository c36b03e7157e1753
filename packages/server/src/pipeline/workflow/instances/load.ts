import { z } from 'zod'
import { Steps } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { withPlainSteps } from '../../../domain/automation/plain-steps.ts'
import { storedView } from '../../../domain/capture/request-view.ts'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import { compileWorkflow, UNREADABLE, type Program } from '../compile.ts'
import type { Awaited, Instance, Memory } from '../instance.ts'
import {
  findAwaitedDeliveries,
  findAwaitedRuns,
  findDefinitions,
  findRecords,
  type ClaimedRow,
  type RecordRow,
  type WantedRecord,
} from './queries.ts'

/**
 * Reads the data that claimed instances need to run: their programs, payloads, and the outcomes that they awaited. `left` have
 * no room in memory beside the others.
 */
export type Loader = {
  load(
    rows: readonly ClaimedRow[],
  ): Promise<{ readonly instances: readonly Instance[]; readonly left: readonly ClaimedRow[] }>
}

/** The texts that are parsed together. As values they take many times as much. */
const CHARS_MAX = 4_194_304

const PROGRAMS_MAX = 5_000

const Definition = z.object({ name: z.string().default(''), steps: Steps })

export function createLoader({ database, log }: Deps): Loader {
  /** A version never changes, so its program is compiled once. */
  const programs = new Map<string, Program>()

  const learn = async (rows: readonly ClaimedRow[]): Promise<void> => {
    // Before the search: a program that these rows need must not be missing afterwards.
    if (programs.size > PROGRAMS_MAX) programs.clear()
    const unknown = new Map(rows.filter((row) => !programs.has(programKey(row))).map((row) => [programKey(row), row]))
    if (unknown.size === 0) return
    for (const row of await findDefinitions(database, [...unknown.values()])) {
      const { data, error } = Definition.safeParse(readDefinition(row.definition))
      if (data === undefined)
        log.error('workflows.definition_unreadable', { workflow_id: row.workflow_id, cause: error })
      programs.set(programKey(row), data === undefined ? UNREADABLE : compileWorkflow(data))
    }
  }

  return {
    load: async (claimed) => {
      if (claimed.length === 0) return { instances: [], left: [] }
      const fitting = withRoom(claimed)
      const found = await findRecords(database, { wanted: wantedOnce(fitting), bytesMax: CHARS_MAX })
      const records = new Map(found.map((row) => [row.id, row]))
      const isRead = (row: ClaimedRow): boolean =>
        wantedRecords(row).every(({ record_id: id, whole }) => !whole || records.get(id)?.is_left_out !== true)
      const rows = fitting.filter(isRead)
      const [deliveries, runs] = await Promise.all([
        idsOf(rows, 'delivery', (ids) => findAwaitedDeliveries(database, ids)),
        idsOf(rows, 'ai_run', (ids) => findAwaitedRuns(database, ids)),
        learn(rows),
      ])
      const instances = rows.map((row) => ({
        workspace_id: row.workspace_id,
        project_id: row.project_id,
        id: row.id,
        fence: row.fence,
        workflow: { id: row.workflow_id, version: row.version },
        program: programs.get(programKey(row)),
        record: { id: row.record_id, dataset: row.dataset, hops: row.hops, root: row.root_id },
        record_stored: records.has(row.record_id),
        cursor: row.cursor,
        attempt: row.attempt,
        memory: memoryOf(row, { record: records.get(row.record_id), program: programs.get(programKey(row)) }),
        awaited: awaitedOf(row, { records, deliveries, runs }),
      }))
      return { instances, left: claimed.filter((row) => !rows.includes(row)) }
    },
  }
}

/** The first rows whose memories fit together; at least one. */
function withRoom(claimed: readonly ClaimedRow[]): readonly ClaimedRow[] {
  let chars = 0
  const end = claimed.findIndex(({ context }) => {
    const isFull = chars > CHARS_MAX
    chars += context?.length ?? 0
    return isFull
  })
  return end === -1 ? claimed : claimed.slice(0, end)
}

/** Each number in a payload of a step stays as it was saved. */
function readDefinition(text: string): unknown {
  const definition = valueOf(text)
  return typeof definition === 'object' && definition !== null && 'steps' in definition
    ? { ...definition, steps: withPlainSteps(definition.steps) }
    : definition
}

const programKey = (of: { readonly workflow_id: string; readonly version: number }): string =>
  `${of.workflow_id} ${of.version}`

/** The payload of a record that started an instance is read once; that of a record that ended a wait, at the wake. */
function wantedRecords(row: ClaimedRow): readonly WantedRecord[] {
  const { workspace_id, project_id, record_id, wait_kind, wait_id } = row
  const own = { workspace_id, project_id, record_id, whole: row.context === null }
  if (wait_kind !== 'event' || wait_id === null) return [own]
  return [own, { workspace_id, project_id, record_id: wait_id, whole: true }]
}

/** Each record once, with its payload if one of the instances reads it. */
function wantedOnce(rows: readonly ClaimedRow[]): readonly WantedRecord[] {
  const wanted = new Map<string, WantedRecord>()
  for (const one of rows.flatMap(wantedRecords)) {
    const whole = one.whole || wanted.get(one.record_id)?.whole === true
    wanted.set(one.record_id, { ...one, whole })
  }
  return [...wanted.values()]
}

type Wanted = { readonly workspace_id: string; readonly project_id: string; readonly wait_id: string }

async function idsOf<Row extends { readonly id: string }>(
  rows: readonly ClaimedRow[],
  ...[kind, find]: [kind: 'delivery' | 'ai_run', find: (wanted: readonly Wanted[]) => Promise<readonly Row[]>]
): Promise<ReadonlyMap<string, Row>> {
  const wanted = rows.flatMap(({ workspace_id, project_id, wait_kind, wait_id }) =>
    wait_kind === kind && wait_id !== null ? [{ workspace_id, project_id, wait_id }] : [],
  )
  return wanted.length === 0 ? new Map() : new Map((await find(wanted)).map((row) => [row.id, row]))
}

type Starting = { readonly record: RecordRow | undefined; readonly program: Program | undefined }

function memoryOf({ context }: ClaimedRow, { record, program }: Starting): Memory | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine wrote it
  if (context !== null) return (valueOf(context) ?? undefined) as Memory | undefined
  if (record === undefined || record.data === null) return undefined
  return {
    payload: valueOf(record.data),
    ...(program?.usesRequest === true ? requestIn(record) : {}),
    received_at: record.received_at.toISOString(),
    chain: record.chain,
    steps: {},
    emitted: {},
    seq: 0,
    open: null,
  }
}

function requestIn({ headers, query, path }: RecordRow): Pick<Memory, 'request'> {
  return headers === null ? {} : { request: storedView({ headers, query, path }) }
}

type Found = {
  readonly records: ReadonlyMap<string, RecordRow>
  readonly deliveries: ReadonlyMap<string, Awaitable<'delivery'>>
  readonly runs: ReadonlyMap<
    string,
    { readonly state: string; readonly output: string | null; readonly error: string | null }
  >
}
type Awaitable<Kind extends Awaited['kind']> = Omit<Extract<Awaited, { kind: Kind }>, 'kind'>

function awaitedOf({ wait_kind: kind, wait_id: id }: ClaimedRow, found: Found): Awaited | undefined {
  if (kind === null || id === null) return undefined
  switch (kind) {
    case 'event':
      return eventOf(id, found)
    case 'delivery':
      return deliveryOf(id, found)
    case 'ai_run': {
      const row = found.runs.get(id)
      return { kind, id, state: row?.state, output: parsed(row?.output), error: parsed(row?.error) }
    }
  }
}

function eventOf(id: string, { records }: Found): Awaited {
  const record = records.get(id)
  return {
    kind: 'event',
    record_id: id,
    received_at: record?.received_at.toISOString() ?? null,
    payload: record === undefined || record.data === null ? undefined : valueOf(record.data),
  }
}

function deliveryOf(id: string, { deliveries }: Found): Awaited {
  const row = deliveries.get(id)
  return {
    kind: 'delivery',
    id,
    state: row?.state,
    last_status: row?.last_status ?? null,
    response_body: row?.response_body ?? null,
  }
}

const parsed = (text: string | null | undefined): unknown =>
  text === null || text === undefined ? null : valueOf(text)

function valueOf(text: string): unknown {
  const read = parseStoredJson(text)
  return read.ok ? read.value : null
}
