import { readFileSync } from 'node:fs'

/**
 * One instance of QuickJS in WebAssembly, called without the JavaScript of its package: the imports below are everything that
 * code in it can reach. No function of the host is ever given to that code.
 */

/** The functions of the engine that this file uses. Values are addresses. */
type Exports = {
  readonly memory: WebAssembly.Memory
  readonly __stack_pointer: WebAssembly.Global
  _initialize(): void
  qjs_init(): number
  qjs_set_interrupt_handler(enabled: number): void
  qjs_set_memory_limit(bytes: number): void
  qjs_set_max_stack_size(bytes: number): void
  qjs_eval(...call: readonly [code: number, length: number, file: number, flags: number]): number
  qjs_call(...call: readonly [func: number, self: number, count: number, values: number]): number
  qjs_get_undefined(): number
  qjs_new_string(at: number, length: number): number
  qjs_new_number(value: number): number
  qjs_get_string_len(value: number, lengthAt: number): number
  qjs_get_prop_string(value: number, name: number): number
  qjs_is_exception(value: number): number
  qjs_get_exception(): number
  qjs_is_job_pending(): number
  qjs_execute_pending_job(): number
  qjs_promise_state(value: number): number
  qjs_promise_result(value: number): number
  wasm_malloc(bytes: number): number
  wasm_free(at: number): void
}

export const FILE = 'transform.js'
const MODULE_FLAG = 1
/** A program may nest calls about this deep, counted in bytes of the engine's stack of 1 MiB. */
const STACK_BYTES = 256 * 1024
/** Heap that every program has from its start. An event that needs more makes the next one start in a new instance. */
const HEAP_BYTES = 4 * 1024 * 1024

export type EngineLimits = { readonly ticks: number; readonly memoryBytes: number }

/** The memory of a program between two events: what lies above the stack and below the free heap. */
export type Image = { readonly from: number; readonly bytes: Uint8Array; readonly length: number }

/** A value of the program, by its address. */
export type Value = { readonly at: number }

/** An exception of the program. `isStopped`: it used up its ticks. */
export class ProgramError extends Error {
  readonly isStopped: boolean
  /** The name, the message and the stack, as the program shows them. */
  readonly shown: string

  constructor(shown: string, isStopped: boolean) {
    super('The program failed.')
    this.shown = shown
    this.isStopped = isStopped
  }
}

let compiled: WebAssembly.Module | undefined
const compiledModule = (): WebAssembly.Module =>
  (compiled ??= new WebAssembly.Module(readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm')))))

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const BAD_FILE = 8

export class Engine {
  readonly #exports: Exports
  #ticks = 0
  #ticksMax: number
  #now = 0n

  /** Starts an empty engine, or one in the state of an image. */
  constructor({ ticks, memoryBytes }: EngineLimits, image?: Image) {
    this.#ticksMax = ticks
    const { exports } = new WebAssembly.Instance(compiledModule(), this.#imports())
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are the functions of the module, as its package documents them
    this.#exports = exports as unknown as Exports
    if (image !== undefined) {
      this.#grow(image.length)
      this.restore(image)
      return
    }
    // oxlint-disable-next-line no-underscore-dangle -- its name in the module
    this.#exports._initialize()
    if (this.#exports.qjs_init() !== 0) throw new Error('The engine of the sandbox does not start.')
    this.#exports.qjs_set_memory_limit(memoryBytes)
    this.#exports.qjs_set_max_stack_size(STACK_BYTES)
    this.#exports.qjs_set_interrupt_handler(1)
    this.#exports.wasm_free(this.#exports.wasm_malloc(HEAP_BYTES))
  }

  /** The time that the program reads, and a full budget. */
  begin(nowMs: number): void {
    this.#now = BigInt(nowMs) * 1_000_000n
    this.#ticks = 0
  }

  get ticks(): number {
    return this.#ticks
  }

  /** It has less memory than an image needs, or more: it grew, and cannot be set back. */
  hasLength(length: number): boolean {
    return this.#exports.memory.buffer.byteLength === length
  }

  image(): Image {
    const { memory, __stack_pointer: stack } = this.#exports
    // The free heap is the only place for as much, so its address is where the used heap ends.
    const free = this.#exports.wasm_malloc(HEAP_BYTES / 2)
    this.#exports.wasm_free(free)
    const from = stack.value
    return { from, bytes: new Uint8Array(memory.buffer).slice(from, free + 64), length: memory.buffer.byteLength }
  }

  restore({ from, bytes }: Image): void {
    new Uint8Array(this.#exports.memory.buffer).set(bytes, from)
    // oxlint-disable-next-line no-underscore-dangle -- its name in the module
    this.#exports.__stack_pointer.value = from
  }

  evaluate(code: string): Value {
    return this.#evaluated(code, { file: 'sandbox.js', flags: 0 })
  }

  /** Evaluates a module with everything that it has waiting, and returns its exports. */
  evaluateModule(code: string): Value {
    const promise = this.#evaluated(code, { file: FILE, flags: MODULE_FLAG })
    this.runJobs()
    const state = this.#exports.qjs_promise_state(promise.at)
    const result = { at: this.#exports.qjs_promise_result(promise.at) }
    if (state === REJECTED) throw this.#shownError(result)
    return result
  }

  runJobs(): void {
    while (this.#exports.qjs_is_job_pending() !== 0)
      if (this.#exports.qjs_execute_pending_job() < 0) throw this.#error()
  }

  property(of: Value, name: string): Value {
    const { at, free } = this.#written(name)
    const found = this.#exports.qjs_get_prop_string(of.at, at)
    free()
    return this.#checked(found)
  }

  text(value: string): Value {
    const { at, length, free } = this.#written(value)
    const made = this.#exports.qjs_new_string(at, length)
    free()
    return this.#checked(made)
  }

  number(value: number): Value {
    return { at: this.#exports.qjs_new_number(value) }
  }

  call(func: Value, values: readonly Value[]): Value {
    const at = this.#exports.wasm_malloc(4 * values.length + 4)
    const view = new DataView(this.#exports.memory.buffer)
    for (const [index, value] of values.entries()) view.setUint32(at + 4 * index, value.at, true)
    const result = this.#exports.qjs_call(func.at, this.#exports.qjs_get_undefined(), values.length, at)
    return this.#checked(result)
  }

  /** A value as text; undefined: it is longer, or the program lets it have none. */
  read(value: Value, bytesMax: number): string | undefined {
    const lengthAt = this.#exports.wasm_malloc(4)
    const at = this.#exports.qjs_get_string_len(value.at, lengthAt)
    if (at === 0) return undefined
    const { buffer } = this.#exports.memory
    const length = new DataView(buffer).getUint32(lengthAt, true)
    return length > bytesMax ? undefined : decoder.decode(new Uint8Array(buffer, at, length))
  }

  #evaluated(code: string, { file, flags }: { readonly file: string; readonly flags: number }): Value {
    const [text, name] = [this.#written(code), this.#written(file)]
    const result = this.#exports.qjs_eval(text.at, text.length, name.at, flags)
    text.free()
    name.free()
    return this.#checked(result)
  }

  #checked(at: number): Value {
    if (this.#exports.qjs_is_exception(at) !== 0) throw this.#error()
    return { at }
  }

  #error(): ProgramError {
    return this.#shownError({ at: this.#exports.qjs_get_exception() })
  }

  /** The program cannot catch the errors of the engine itself, so they arrive here and not in its `catch`. */
  #shownError(error: Value): ProgramError {
    const isStopped = this.#ticks > this.#ticksMax
    const parts = [error, this.#shownPart(error, 'stack')]
    return new ProgramError(parts.map((part) => (part && this.read(part, SHOWN_BYTES)) ?? '').join('\n'), isStopped)
  }

  #shownPart(of: Value, name: string): Value | undefined {
    const { at, free } = this.#written(name)
    const found = this.#exports.qjs_get_prop_string(of.at, at)
    free()
    return this.#exports.qjs_is_exception(found) === 0 ? { at: found } : undefined
  }

  #written(text: string): { readonly at: number; readonly length: number; readonly free: () => void } {
    const room = 3 * text.length + 1
    const at = this.#exports.wasm_malloc(room)
    if (at === 0) throw new RangeError('The engine has no memory for a text.')
    const into = new Uint8Array(this.#exports.memory.buffer, at, room)
    const { written } = encoder.encodeInto(text, into)
    into[written] = 0
    return { at, length: written, free: () => this.#exports.wasm_free(at) }
  }

  #grow(length: number): void {
    const { memory } = this.#exports
    const missing = length - memory.buffer.byteLength
    if (missing > 0) memory.grow(missing / PAGE_BYTES)
  }

  /** Everything that the engine asks of its host. A program sees the clock, and nothing else of it. */
  #imports(): WebAssembly.Imports {
    return {
      env: {
        host_call: () => 0,
        host_get_timezone_offset: () => 0,
        host_interrupt: () => ((this.#ticks += 1) > this.#ticksMax ? 1 : 0),
        host_module_load: () => 0,
        host_module_normalize: () => 0,
        host_promise_rejection: () => undefined,
      },
      wasi_snapshot_preview1: {
        clock_time_get: (...[, , at]: readonly [number, bigint, number]) => {
          new DataView(this.#exports.memory.buffer).setBigUint64(at, this.#now, true)
          return 0
        },
        fd_close: () => BAD_FILE,
        fd_fdstat_get: () => BAD_FILE,
        fd_seek: () => BAD_FILE,
        fd_write: () => BAD_FILE,
        random_get: (at: number, length: number) => {
          new Uint8Array(this.#exports.memory.buffer, at, length).fill(0)
          return 0
        },
      },
    }
  }
}

const PAGE_BYTES = 65_536
const REJECTED = 2
const SHOWN_BYTES = 16_384
