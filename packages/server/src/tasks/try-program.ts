import { LIMITS } from '@postroad/contract/plain'
import { jsonChanges, type JsonChange } from '../domain/json/json-changes.ts'
import { parseJson, parseStoredJson, stringifyJson } from '../domain/json/json-text.ts'
import { programRequest } from '../domain/delivery/program-request.ts'
import { task } from '../platform/heavy/task.ts'
import { Program, timed, type Fault, type Language, type ProgramInput, type Ran } from '../platform/sandbox/sandbox.ts'

type Asked = {
  readonly source: { readonly code: string; readonly language: Language }
  readonly input: ProgramInput
}

/** `result`, `before` and `changes` are JSON. */
export type Tried = {
  readonly ok: boolean
  readonly result: string
  readonly before: string
  readonly changes: string
  readonly lines: string[]
  readonly lines_dropped: number
  readonly time_us: number
  readonly steps: number
  readonly error: { kind: Fault['kind']; message: string; line: number | null; column: number | null } | null
}

/** Runs a program once, and shows what it did. */
export const tryProgram = task('transform.try', ({ source, input }: Asked): Tried => {
  const program = Program.compile(source)
  const before = eventOf(input)
  if (!(program instanceof Program)) return tried({ ran: failed(program), before, microseconds: 0 })
  return tried({ ...timed(program, input), before })
})

const failed = (fault: Fault): Ran => ({ ok: false, fault, lines: [], linesDropped: 0, ticks: 0 })

type Members = Readonly<Record<string, unknown>>

/** The event with its body, as the prelude makes it. */
function eventOf({ event, form }: ProgramInput): Members {
  const parsed = parseStoredJson(event)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `programEvent` wrote an object
  const value = (parsed.ok ? parsed.value : {}) as Members
  const { id, dataset, received_at, data } = value
  return { ...value, body: form === 'envelope' ? { id, dataset, received_at, data } : data }
}

function tried({
  ran,
  before,
  microseconds,
}: {
  readonly ran: Ran
  readonly before: Members
  readonly microseconds: number
}): Tried {
  const about = {
    before: stringifyJson(before),
    lines: [...ran.lines],
    lines_dropped: ran.linesDropped,
    time_us: Math.round(microseconds),
    steps: ran.ticks,
  }
  const fault = ran.ok ? refusedBy(ran.result) : ran.fault
  if (fault !== undefined || !ran.ok) return { ...about, ok: false, result: 'null', changes: '[]', error: shown(fault) }
  const result = ran.result === null ? undefined : parseJson(ran.result)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the program returned an object
  const after = (result?.ok === true ? result.value : {}) as Members
  const changes = ran.result === null ? [] : changesOf(before, after)
  return { ...about, ok: true, result: ran.result ?? 'null', changes: written(changes), error: null }
}

/** A result that no request can be made of. */
function refusedBy(result: string | null): Fault | undefined {
  const made = result === null ? undefined : programRequest(result)
  return made !== undefined && 'error' in made ? { kind: 'result', message: made.error, at: null } : undefined
}

const changesOf = (before: Members, after: Members): readonly JsonChange[] =>
  jsonChanges(
    { body: before['body'], headers: before['headers'] },
    { body: after['body'], headers: after['headers'] ?? before['headers'] },
    LIMITS.transformChangesMax,
  )

/** The sides are JSON texts already. */
const written = (changes: readonly JsonChange[]): string =>
  `[${changes
    .map(({ path, before, after }) => {
      const sides = [before === undefined ? '' : `,"before":${before}`, after === undefined ? '' : `,"after":${after}`]
      return `{"path":${JSON.stringify(path)}${sides.join('')}}`
    })
    .join(',')}]`

function shown(fault: Fault | undefined): Tried['error'] {
  if (fault === undefined) return null
  return { kind: fault.kind, message: fault.message, line: fault.at?.line ?? null, column: fault.at?.column ?? null }
}
