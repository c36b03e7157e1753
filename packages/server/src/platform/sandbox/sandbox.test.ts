import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Program, SANDBOX_LIMITS, type ProgramInput, type Ran } from './sandbox.ts'

const EVENT = { id: 'evt_1', dataset: 'orders', received_at: '2026-01-01T00:00:00.000Z', data: { amount: 5 } }
const anInput = (input: Partial<ProgramInput> = {}): ProgramInput => ({
  event: JSON.stringify(EVENT),
  form: 'envelope',
  nowMs: 1_767_225_600_000,
  seed: 7,
  ...input,
})

function compiled(code: string, limits: Partial<typeof SANDBOX_LIMITS> = {}): Program {
  const program = Program.compile({ code, language: 'js' }, { ...SANDBOX_LIMITS, ...limits })
  assert.ok(program instanceof Program, JSON.stringify(program))
  return program
}
const run = (code: string, input: Partial<ProgramInput> = {}): Ran => compiled(code).run(anInput(input))
const body = (code: string): string => `function transform(event) { return { body: ${code} } }`
const compile = (code: string, language: 'js' | 'ts' = 'js') => Program.compile({ code, language })
/** The body that an expression gives. */
function valueOf(code: string): unknown {
  const ran = run(body(code))
  assert.ok(ran.ok, JSON.stringify(ran))
  const result: unknown = JSON.parse(ran.result ?? 'null')
  assert.ok(typeof result === 'object' && result !== null && 'body' in result)
  return result.body
}
const faultOf = (ran: Ran): string => (ran.ok ? `no fault: ${String(ran.result)}` : ran.fault.kind)

test('transform gets the event with its body, and returns another body', () => {
  assert.deepEqual(valueOf('event.body'), EVENT)
  const data = run('export function transform(event) { event.body.more = 1; return event }', { form: 'data' })
  assert.ok(data.ok)
  assert.deepEqual(JSON.parse(data.result ?? ''), {
    ...EVENT,
    data: { amount: 5, more: 1 },
    body: { amount: 5, more: 1 },
  })
})

test('transform is a function with this name, or the default export, and may be asynchronous', () => {
  for (const code of [
    'function transform() { return {} }',
    'const transform = () => ({})',
    'export const transform = async () => { await 1; return {} }',
    'export default function (event) { return {} }',
  ])
    assert.deepEqual(run(code), { ok: true, result: '{}', lines: [], linesDropped: 0, ticks: 0 }, code)
})

test('null stays null', () => {
  const ran = run('function transform() { return null }')
  assert.ok(ran.ok && ran.result === null)
})

test('a result that is not an object is a fault that names its type', () => {
  const messages = ['', '5', '"text"', 'true', 'Symbol()', '() => 1', '{ toJSON() {} }'].map((value) => {
    const ran = run(`function transform() { return ${value === '{ toJSON() {} }' ? `(${value})` : value} }`)
    assert.ok(!ran.ok && ran.fault.kind === 'result', value)
    return ran.fault.message
  })
  assert.match(messages[0] ?? '', /returned nothing/)
  assert.match(messages[1] ?? '', /returned a number/)
})

test('an error names the line and the column of the author, in TypeScript too', () => {
  const js = run('function transform(event) {\n  const { user } = event.data\n  return user.name\n}')
  assert.ok(!js.ok)
  assert.deepEqual(js.fault.at, { line: 3, column: 10 })
  const program = Program.compile({
    code: 'type Event = { data: { user?: { name: string } } }\nexport function transform(event: Event): object {\n  return event.data.user!.name as unknown as object\n}',
    language: 'ts',
  })
  assert.ok(program instanceof Program)
  const ts = program.run(anInput())
  assert.ok(!ts.ok)
  assert.deepEqual(ts.fault, {
    kind: 'threw',
    message: "TypeError: cannot read property 'name' of undefined",
    at: { line: 3, column: 10 },
  })
})

test('code that does not compile is refused with its place', () => {
  assert.deepEqual(compile('function transform() {\n  return 1 +* 2\n}'), {
    kind: 'compile',
    message: "SyntaxError: unexpected token in expression: '*'",
    at: { line: 2, column: 13 },
  })
  assert.ok(JSON.stringify(compile('const x = 1')).includes('no function with the name transform'))
  assert.ok(JSON.stringify(compile('enum A { x }', 'ts')).includes('enum is not supported'))
  assert.ok(JSON.stringify(compile('import fs from "node:fs"; export default fs')).includes('could not load module'))
  assert.deepEqual(compile('throw new Error("at the top")'), {
    kind: 'compile',
    message: 'Error: at the top',
    at: { line: 1, column: 11 },
  })
})

test('console.log is returned, and is bounded', () => {
  const ran = run('function transform(event) { console.log("amount", event.data, 1n); return {} }')
  assert.deepEqual(ran.lines, ['amount {"amount":5} (a value that cannot be shown)'])
  const many = run('function transform() { for (let i = 0; i < 150; i++) console.log("x".repeat(9000)); return {} }')
  assert.deepEqual([many.lines.length, many.lines[0]?.length, many.linesDropped], [100, 2000, 50])
  const stopped = run('function transform() { console.log("before"); for (;;); }')
  assert.deepEqual([faultOf(stopped), stopped.lines], ['timed_out', ['before']])
})

test('the time is the given one, and chance follows from the seed', () => {
  assert.equal(valueOf('[Date.now(), new Date().getTime()].join()'), '1767225600000,1767225600000')
  const program = compiled(body('[Math.random(), Math.random()]'))
  const [one, again, other] = [7, 7, 8].map((seed) => program.run(anInput({ seed })))
  assert.deepEqual(one, again)
  assert.notDeepEqual(one, other)
})

test('nothing of an event is left for the next one', () => {
  const program = compiled(`
    let count = 0
    const seen = []
    const tag = (parts) => { const first = parts.seen === undefined; try { parts.seen = 1 } catch {} return first }
    function transform(event) {
      const before = {
        count: count++, seen: seen.push(event.id), global: globalThis.leak, proto: ({}).leak, array: [].leak,
        symbol: Object.getOwnPropertySymbols(globalThis).length, regexp: /a/g.lastIndex, from: Array.from === Object.leak,
        json: JSON.leak, text: ''.leak, fn: (() => 1).leak, iterator: [].values().leak, date: Date.leak, error: new Error('x').leak,
        promise: Promise.prototype.leak, math: Math.leak, generator: (function* () {})().leak, random: Math.random(), tag: tag\`a\`,
      }
      globalThis.leak = Object.prototype.leak = Array.prototype.leak = JSON.leak = String.prototype.leak = event.data.amount
      Function.prototype.leak = Object.getPrototypeOf([].values()).leak = Date.leak = Error.prototype.leak = event.data.amount
      Promise.prototype.leak = Math.leak = Object.getPrototypeOf(function* () {}).prototype.leak = Object.leak = Array.from
      globalThis[Symbol.for('leak')] = 1
      Promise.resolve().then(() => { globalThis.late = event })
      JSON.stringify = () => '{"stolen":true}'
      return { body: before }
    }`)
  const first = program.run(anInput())
  assert.ok(first.ok && !first.result?.includes('stolen'), JSON.stringify(first))
  for (const amount of [6, 7])
    assert.deepEqual(program.run(anInput({ event: JSON.stringify({ ...EVENT, data: { amount } }) })), first)
})

test('a fault in one event changes nothing for the next one', () => {
  const program = compiled(`function transform({ data }) {
    globalThis.leak = (globalThis.leak ?? 0) + 1
    if (data === 'loop') for (;;);
    if (data === 'memory') for (const a = []; ; ) a.push('x'.repeat(100000) + a.length)
    if (data === 'deep') (function f() { f() })()
    if (data === 'large') return { body: new Array(300000).fill('0123456789').join('') }
    return { body: globalThis.leak }
  }`)
  const outcome = (data: string) => {
    const ran = program.run(anInput({ event: JSON.stringify({ data }) }))
    return ran.ok ? (ran.result ?? 'null').slice(0, 20) : ran.fault.kind
  }
  assert.deepEqual(
    ['loop', '', 'memory', '', 'deep', '', 'large', ''].map((data) => outcome(data)),
    ['timed_out', '{"body":1}', 'memory', '{"body":1}', 'threw', '{"body":1}', '{"body":"01234567890', '{"body":1}'],
  )
})

test('the budget of steps ends what never ends, the same way on every run', () => {
  for (const code of [
    'for (;;);',
    'while (true) { try { for (;;); } catch {} finally { continue } }',
    'return { get a() { for (;;); } }',
    'return { toJSON() { for (;;); } }',
    'return new Proxy({}, { ownKeys() { for (;;); } })',
    '/(a+)+$/.test("a".repeat(40) + "b")',
    '/^(([a-z])+.)+[A-Z]([a-z])+$/.test("a".repeat(60))',
    'for (const x of (function* () { for (;;) yield 1 })());',
    'const again = () => Promise.resolve().then(again); return again()',
    'return (async () => { for (;;) await null })()',
    '[].indexOf.call({ length: 2 ** 53 - 1 }, 1)',
    'Array.prototype.reverse.call(new Proxy({}, { get: (_, k) => (k === "length" ? 2 ** 50 : 1), has: () => true, set: () => true }))',
    'eval("for (;;);")',
    'new Function("for (;;);")()',
    '[2, 1, 3].sort(() => { for (;;); })',
    '"a".replace(/a/, () => { for (;;); })',
    'class A { static [Symbol.hasInstance]() { for (;;); } } ; ({}) instanceof A',
    '`${{ [Symbol.toPrimitive]() { for (;;); } }}`',
    'throw { toString() { for (;;); }, toJSON() { for (;;); } }',
    'const e = new Error(); Object.defineProperty(e, "stack", { get() { for (;;); } }); throw e',
  ]) {
    const program = compiled(`function transform() { ${code} }`, { ticks: 60 })
    const [one, again] = [program.run(anInput()), program.run(anInput())]
    assert.equal(faultOf(one), code.includes('again') || code.includes('await') ? faultOf(one) : 'timed_out', code)
    assert.ok(['timed_out', 'memory'].includes(faultOf(one)), `${code}: ${faultOf(one)}`)
    assert.deepEqual(again, one, code)
    assert.ok(one.ticks <= 200, `${code}: ${one.ticks} ticks`)
  }
})

test('memory, depth and size have limits', () => {
  for (const [code, kind] of [
    ['const a = []; for (;;) a.push({})', 'memory'],
    ['let s = "x"; for (;;) s += s', 'threw memory'],
    ['const a = new ArrayBuffer(1e9)', 'threw memory'],
    ['return { body: new Array(1e9).fill(1) }', 'memory threw'],
    ['return { body: "x".repeat(2 ** 29) }', 'memory threw'],
    ['const m = new Map(); for (let i = 0; ; i++) m.set(i, "x".repeat(1000) + i)', 'memory'],
    ['function f() { f() } f()', 'threw'],
    ['let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o', 'memory threw'],
    ['const a = []; a[0] = a; return { a }', 'threw'],
    ['return JSON.parse("[".repeat(1e5))', 'memory threw'],
    ['return { body: eval("(".repeat(1e5)) }', 'memory threw'],
    ['return { body: new RegExp("(".repeat(1e4) + ")".repeat(1e4)).test("x") }', 'memory threw'],
    ['return { body: "x".repeat(6291456) }', 'too_large'],
  ] as const) {
    const ran = run(`function transform() { ${code} }`)
    assert.ok(kind.split(' ').includes(faultOf(ran)), `${code}: ${JSON.stringify(ran).slice(0, 200)}`)
  }
})

test('a program reaches nothing of its host', () => {
  const names = valueOf('Object.getOwnPropertyNames(globalThis)')
  assert.ok(Array.isArray(names))
  for (const name of [
    'process',
    'require',
    'fetch',
    'Buffer',
    'WebAssembly',
    'setTimeout',
    'print',
    'std',
    'os',
    'global',
  ])
    assert.ok(!names.includes(name), name)
  for (const code of [
    'this.constructor.constructor("return process")()',
    '(() => {}).constructor("return process")()',
    'event.constructor.constructor("return process")()',
    'console.log.constructor("return globalThis.process.env")()',
    '(function* () {}).constructor("return process")().next().value',
    'Reflect.construct(Function, ["return require"])()("fs")',
    'eval("process")',
    'new Error().constructor.prepareStackTrace.call()',
    'globalThis.__take.constructor',
  ])
    assert.equal(faultOf(run(`function transform(event) { return { body: ${code}.pid } }`)), 'threw', code)
  const inAsync = 'async function transform() { return await (async () => {}).constructor("return process")() }'
  assert.equal(faultOf(run(inAsync)), 'threw')
  const imported = run('async function transform() { return { body: await import("node:fs") } }')
  assert.equal(faultOf(imported), 'threw')
})

test('a program that breaks what the sandbox uses breaks only its own result', () => {
  for (const code of [
    'JSON.stringify = () => "not JSON"; return {}',
    'Object.prototype.toJSON = () => undefined; return {}',
    'Object.prototype.toJSON = function () { return { kind: "made", lines: 5, text: 5 } }; return {}',
    'Object.defineProperty(Object.prototype, "kind", { get() { throw 1 } }); return {}',
    'Array.prototype.map = () => ({ join: () => ({ slice: () => ({}) }) }); console.log(1); return {}',
    'Promise.prototype.then = () => { throw 1 }; return Promise.resolve({})',
    'globalThis.JSON = globalThis.Math = globalThis.Promise = undefined; return {}',
    'for (const name of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[name] } catch {} } return {}',
    'Error.prototype.toString = () => { throw 1 }; throw new Error("x")',
    'String.prototype.slice = () => ({}); throw new Error("x")',
    'Object.setPrototypeOf(Object.prototype.__proto__ ?? {}, null); return Object.freeze(globalThis) && {}',
  ]) {
    const program = compiled(`function transform(event) { if (event.id === 'ok') return { fine: true }; ${code} }`)
    const ran = program.run(anInput())
    assert.ok(
      ran.lines.every((line) => typeof line === 'string'),
      code,
    )
    const next = program.run(anInput({ event: '{"id":"ok"}' }))
    assert.ok(next.ok && next.result === '{"fine":true}', code)
  }
})
