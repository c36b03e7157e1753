import { Engine, FILE, ProgramError, type EngineLimits, type Image, type Value } from './engine.ts'
import { PRELUDE, TAKE } from './prelude.ts'
import { withoutTypes } from './strip-types.ts'

export type Language = 'js' | 'ts'

/** The line and the column in the author's source, from 1; null: unknown. */
export type Place = { readonly line: number; readonly column: number }

export type Fault = {
  readonly kind:
    /** The program does not compile, or has no function `transform`. */
    | 'compile'
    | 'threw'
    /** It used up its budget of steps. */
    | 'timed_out'
    | 'memory'
    /** It returned something that is neither an object nor null. */
    | 'result'
    | 'too_large'
  readonly message: string
  readonly at: Place | null
}

/** An event for a program. `form`: what its member \`body\` is made of. */
export type ProgramInput = {
  /** JSON of an object. */
  readonly event: string
  readonly form: 'envelope' | 'data' | 'none'
  /** The time that the program sees. */
  readonly nowMs: number
  /** Chance in the program follows from it. */
  readonly seed: number
}

export type Ran = (
  | { readonly ok: true; /** JSON of an object, or null. */ readonly result: string | null }
  | { readonly ok: false; readonly fault: Fault }
) & {
  /** The lines that it logged. */
  readonly lines: readonly string[]
  readonly linesDropped: number
  /** Its steps, in ten thousands. The same event takes the same number on every machine. */
  readonly ticks: number
}

export const SANDBOX_LIMITS = {
  /** About a quarter of a second on a usual core. */
  ticks: 500,
  memoryBytes: 64 * 1024 * 1024,
  /** The bytes of a result in JSON. */
  resultBytesMax: 6 * 1024 * 1024,
}
export type SandboxLimits = typeof SANDBOX_LIMITS

const TOO_DEEP = 'The program nested calls or data too deeply.'
const NO_MEMORY = 'The program needed more memory than one event may take.'
const NO_TIME =
  'The program took too many steps. Look for a loop that does not end, or a regular expression that tries too much.'

/** The functions of the prelude. */
type Entries = { readonly run: Value; readonly report: Value; readonly text: Value }
type Start = { readonly image: Image; readonly entries: Entries }

let bare: { readonly image: Image; readonly entries: Entries & { readonly take: Value } } | undefined

/** The engine with the prelude, from which every program starts. */
function bareStart(limits: EngineLimits) {
  if (bare !== undefined) return bare
  const engine = new Engine(limits)
  engine.begin(0)
  const prelude = engine.evaluate(PRELUDE)
  const [take, run, report, text] = ['take', 'run', 'report', 'text'].map((name) => engine.property(prelude, name))
  if (take === undefined || run === undefined || report === undefined || text === undefined)
    throw new Error('The prelude of the sandbox has another form.')
  bare = { image: engine.image(), entries: { take, run, report, text } }
  return bare
}

/**
 * A compiled program. Each event finds it in the state right after its code was evaluated: the memory of the engine is set back to
 * an image, so nothing of one event can be seen by another. An instance of the engine runs one program and never another one.
 */
export class Program {
  readonly #limits: SandboxLimits
  readonly #start: Start
  #engine: Engine | undefined

  private constructor(limits: SandboxLimits, { start, engine }: { readonly start: Start; readonly engine: Engine }) {
    this.#limits = limits
    this.#start = start
    this.#engine = engine
  }

  static compile(
    source: { readonly code: string; readonly language: Language },
    limits: SandboxLimits = SANDBOX_LIMITS,
  ): Program | Fault {
    const plain = source.language === 'ts' ? withoutTypes(source.code) : source
    if ('error' in plain) return { kind: 'compile', message: plain.error, at: placeIn(plain.error) }
    const { image, entries } = bareStart(limits)
    const engine = new Engine(limits, image)
    engine.begin(0)
    try {
      const exported = engine.evaluateModule(plain.code + TAKE)
      const isThere = engine.call(entries.take, [engine.property(exported, 'default')])
      if (engine.read(isThere, 10) !== 'yes')
        return { kind: 'compile', message: 'The code has no function with the name transform.', at: null }
      return new Program(limits, { start: { image: engine.image(), entries }, engine })
    } catch (error) {
      const fault = faultOf(error)
      return fault.kind === 'threw' ? { ...fault, kind: 'compile' } : fault
    }
  }

  run(input: ProgramInput): Ran {
    const engine = this.#ready()
    engine.begin(input.nowMs)
    try {
      const ran = this.#ran(engine, input)
      // Memory that one event needed is not retained for the next ones.
      if (!engine.hasLength(this.#start.image.length)) this.#engine = undefined
      return ran
    } catch (error) {
      const ticks = engine.ticks
      const logged = this.#logged(engine)
      return { ok: false, fault: faultOf(error), ...logged, ticks }
    }
  }

  /** An engine in the state of the image. One that grew, or broke, is not used again. */
  #ready(): Engine {
    const { image } = this.#start
    if (this.#engine?.hasLength(image.length) === true) this.#engine.restore(image)
    else this.#engine = new Engine(this.#limits, image)
    return this.#engine
  }

  #ran(engine: Engine, { event, form, seed }: ProgramInput): Ran {
    const { run, text } = this.#start.entries
    engine.call(run, [engine.text(event), engine.text(form), engine.number(seed)])
    engine.runJobs()
    const report = this.#report(engine)
    const rest = { lines: report.lines, linesDropped: report.dropped, ticks: engine.ticks }
    if (report.kind === 'null') return { ok: true, result: null, ...rest }
    if (report.kind !== 'made') return { ok: false, fault: reportedFault(report), ...rest }
    const result = engine.read(engine.call(text, []), this.#limits.resultBytesMax)
    if (result === undefined) return { ok: false, fault: tooLarge(this.#limits), ...rest }
    return { ok: true, result, ...rest }
  }

  #report(engine: Engine): Report {
    const text = engine.read(engine.call(this.#start.entries.report, []), REPORT_BYTES_MAX)
    return reportIn(text)
  }

  /** The lines before a fault that the program could not catch. The engine may be broken by it. */
  #logged(engine: Engine): Pick<Ran, 'lines' | 'linesDropped'> {
    try {
      engine.begin(0)
      const { lines, dropped } = this.#report(engine)
      return { lines, linesDropped: dropped }
    } catch {
      return { lines: [], linesDropped: 0 }
    } finally {
      this.#engine = undefined
    }
  }
}

/** Runs a program, and counts the time. */
export function timed(program: Program, input: ProgramInput): { readonly ran: Ran; readonly microseconds: number } {
  const began = performance.now()
  const ran = program.run(input)
  return { ran, microseconds: (performance.now() - began) * 1_000 }
}

const REPORT_BYTES_MAX = 2 * 1024 * 1024

type Report = {
  readonly kind: string
  readonly name?: string
  readonly message?: string
  readonly stack?: string
  readonly type?: string
  readonly lines: readonly string[]
  readonly dropped: number
}

/** A program can change everything that writes the report, so nothing of it is believed. */
function reportIn(text: string | undefined): Report {
  const read = parsed(text)
  const { kind, lines, dropped, name, message, stack, type } = read
  return {
    kind: textIn(kind),
    name: textIn(name).slice(0, TEXT_MAX),
    message: textIn(message).slice(0, TEXT_MAX),
    stack: textIn(stack).slice(0, TEXT_MAX),
    type: textIn(type).slice(0, TEXT_MAX),
    lines: Array.isArray(lines) ? lines.slice(0, LINES_MAX).map((line) => textIn(line).slice(0, TEXT_MAX)) : [],
    dropped: Number.isSafeInteger(dropped) ? Number(dropped) : 0,
  }
}

const LINES_MAX = 100
const TEXT_MAX = 4_000
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

function parsed(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? 'null')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function reportedFault({ kind, name, message, stack, type }: Report): Fault {
  switch (kind) {
    case 'threw':
      return {
        kind: 'threw',
        message:
          [name, message].filter((part) => part !== undefined && part !== '').join(': ') ||
          'The program threw nothing.',
        at: placeIn(stack ?? ''),
      }
    case 'nothing':
      return { kind: 'result', message: 'The program returned nothing. Return an object, or null.', at: null }
    case 'no_object':
      return { kind: 'result', message: `The program returned a ${type}. Return an object, or null.`, at: null }
    case 'unsettled':
      return {
        kind: 'timed_out',
        message: 'The promise of the program never settles, because nothing is left to run.',
        at: null,
      }
    default:
      return { kind: 'result', message: 'The result of the program cannot be read.', at: null }
  }
}

const tooLarge = ({ resultBytesMax }: SandboxLimits): Fault => ({
  kind: 'too_large',
  message: `The result of the program has more than ${resultBytesMax} bytes as JSON.`,
  at: null,
})

/** The fault of an error that the engine throws past the program, or that breaks the engine. */
function faultOf(error: unknown): Fault {
  if (error instanceof ProgramError) {
    const at = placeIn(error.shown)
    if (error.isStopped) return { kind: 'timed_out', message: NO_TIME, at }
    if (error.shown.includes('out of memory')) return { kind: 'memory', message: NO_MEMORY, at }
    return { kind: 'threw', message: error.shown.split('\n', 1)[0] ?? '', at }
  }
  // A trap of WebAssembly, or the end of the stack of the host.
  if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError)
    return { kind: 'memory', message: error instanceof RangeError ? TOO_DEEP : NO_MEMORY, at: null }
  throw error
}

const PLACE = new RegExp(`${FILE.replace('.', '\\.')}:(\\d+):(\\d+)`)

function placeIn(stack: string): Place | null {
  const found = PLACE.exec(stack)
  return found === null ? null : { line: Number(found[1]), column: Number(found[2]) }
}
