/** Programs that try everything: each is a few hostile statements in a random order, made of a seed. */

/** A generator of whole numbers below a bound. */
export type Draw = (below: number) => number

export function drawOf(seed: number): Draw {
  let state = Math.imul(seed + 1, 0x9e_37_79_b9) | 0
  return (below) => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const OBJECTS = [
  'globalThis',
  'event',
  'event.data',
  'Object.prototype',
  'Array.prototype',
  'Function.prototype',
  'String.prototype',
  'Promise.prototype',
  'Error.prototype',
  'RegExp.prototype',
  'JSON',
  'Math',
  'Reflect',
  'console',
  'Symbol',
  'Object',
  'Date',
  '(function* () {}).prototype',
  '[][Symbol.iterator]().__proto__',
  'new Proxy({}, {})',
  'transform',
  '(() => {})',
  'new Map()',
  'new Uint8Array(64)',
  '/a/g',
  'new Error("x")',
  'new Date()',
  'Promise.resolve(1)',
  '[1, 2, 3]',
  '"text"',
  '5',
  'null',
  'undefined',
]
const NAMES = [
  'constructor',
  '__proto__',
  'prototype',
  'toString',
  'valueOf',
  'toJSON',
  'then',
  'length',
  'name',
  'stack',
  'get',
  'parse',
  'stringify',
  'leak',
  'body',
  'headers',
  'map',
  'slice',
  'join',
  'log',
  'random',
  'now',
  '__take',
  'data',
  'kind',
  'text',
  'lines',
]
const VALUES = [
  '1',
  '-0',
  'NaN',
  '2 ** 53',
  '10n ** 40n',
  '"x".repeat(1000)',
  '[]',
  '{}',
  'null',
  'undefined',
  '() => { throw 1 }',
  '() => ({})',
  'function () { return this }',
  'new Proxy(function () {}, { get() { return 1 }, apply() { return 2 } })',
  'Symbol("s")',
  'globalThis',
  'async () => { await null; return 1 }',
  '{ get a() { return this } }',
  '{ toJSON() { return globalThis } }',
  '/(a*)*b/',
]

/** A statement or an expression as text. */
export function aProgram(draw: Draw): string {
  const any = (list: readonly string[]): string => list[draw(list.length)] ?? 'null'
  const [object, other, name, value] = [() => any(OBJECTS), () => any(OBJECTS), () => any(NAMES), () => any(VALUES)]
  const statements: readonly (() => string)[] = [
    () => `${object()}.${name()} = ${value()}`,
    () => `Object.defineProperty(${object()}, '${name()}', { get: ${value()}, configurable: true })`,
    () => `Object.setPrototypeOf(${object()}, ${other()})`,
    () => `delete ${object()}.${name()}`,
    () => `Object.freeze(${object()})`,
    () =>
      `${object()}.constructor.constructor('return ${any(['process', 'this', 'require', 'globalThis'])}')().${name()}`,
    () => `eval(${JSON.stringify(`${object()}.${name()}`)})`,
    () => `new Function(${JSON.stringify(`return ${value()}`)})()`,
    () => `Reflect.${any(['ownKeys', 'getPrototypeOf', 'isExtensible', 'preventExtensions'])}(${object()})`,
    () => `JSON.stringify(${object()})`,
    () => `JSON.parse('{"__proto__":{"leak":1},"constructor":{"prototype":{"leak":1}}}')`,
    () => `Object.assign(${object()}, JSON.parse('{"__proto__":{"leak":1}}'))`,
    () => `structured(${object()}, ${draw(40)})`,
    () => `console.log(${object()}, ${value()})`,
    () => `Promise.${any(['resolve', 'reject'])}(${value()}).then(${value()}, ${value()})`,
    () => `queueMicrotask(() => { ${object()}.${name()} = ${value()} })`,
    () => `for (const key in ${object()}) { ${object()}[key] = ${value()}; if (--fuel < 0) break }`,
    () => `/${any(['(a+)+$', '(a|aa)+$', '(.*)*x', '[^]*'])}/.test('a'.repeat(${draw(24)}) + 'b')`,
    () => `String(${object()}).replace(/./g, ${value()})`,
    () => `new Array(${draw(5_000)}).fill(${value()}).map(${value()})`,
    () => `[...(function* () { for (let i = 0; i < ${draw(300)}; i++) yield ${value()} })()]`,
    () => `throw ${value()}`,
    () => `return ${any(['event', 'null', '5', '{ body: event.data }', 'Promise.resolve(event)', object(), value()])}`,
    () => `(function deep(n) { return n === 0 ? ${value()} : deep(n - 1) })(${draw(4_000)})`,
    () => `for (;;) { if (--fuel < ${draw(2) === 0 ? '-1' : '-Infinity'}) break }`,
    () => `import('${any(['fs', 'node:process', 'data:text/javascript,1'])}')`,
    () =>
      `Symbol.for('leak').${name()}; ${object()}[Symbol.${any(['iterator', 'toPrimitive', 'hasInstance', 'species'])}] = ${value()}`,
    () => `new DataView(new ArrayBuffer(${draw(100)})).setFloat64(${draw(120)}, 1)`,
    () => `globalThis['${name()}'] = ${value()}; with_(${object()})`,
    () => `label: for (const a of [1, 2]) { try { continue label } finally { ${object()}.${name()} } }`,
  ]
  const body = Array.from({ length: 1 + draw(8) }, () => {
    const text = (statements[draw(statements.length)] ?? (() => ''))()
    return draw(3) === 0 ? text : `try { ${text} } catch (error) { seen = error }`
  })
  const structured =
    'const structured = (of, n) => { let all = of; for (let i = 0; i < n; i++) all = { all, of }; return all }'
  const head = `let fuel = ${draw(2_000)}; let seen; const with_ = (of) => Object.entries(of ?? {}); ${structured}`
  return `${head}\n${draw(4) === 0 ? 'async ' : ''}function transform(event) {\n  ${body.join('\n  ')}\n  return { body: [typeof seen, ${draw(2)}] }\n}`
}
