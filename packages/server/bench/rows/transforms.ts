import { createContext, runInContext } from 'node:vm'
import { Program, type ProgramInput } from '../../src/platform/sandbox/sandbox.ts'
import type { Stage } from '../stage.ts'
import type { Figure } from '../table.ts'

const CODE = `function transform(event) {
  const { data } = event
  const text = \`\${data.user.name.toUpperCase()} paid \${data.amount / 100}\`
  return { body: { id: event.id, text, items: data.items.map(({ sku }) => sku) }, headers: { 'x-kind': data.type } }
}`
const EVENT = JSON.stringify({
  id: 'rec_1',
  dataset: 'orders',
  received_at: '2026-01-01T00:00:00.000Z',
  headers: {},
  data: {
    type: 'paid',
    amount: 1_299,
    user: { name: 'Ada Lovelace', email: 'ada@example.com' },
    items: [{ sku: 'a1' }, { sku: 'b2' }, { sku: 'c3' }],
    note: 'x'.repeat(300),
  },
})
const INPUT: ProgramInput = { event: EVENT, form: 'data', nowMs: 0, seed: 1 }
const TIMES = 5_000

/** The processor time of a transform of a small event, in its thread, and of the same code without a sandbox. */
export function transforms(stage: Stage): Promise<readonly Figure[]> {
  const program = Program.compile({ code: CODE, language: 'js' })
  if (!(program instanceof Program)) throw new Error(program.message)
  const context = createContext({})
  runInContext(`${CODE}; var run = (text) => JSON.stringify(transform(JSON.parse(text)))`, context)
  const bare: unknown = runInContext('run', context)
  const [ours, beside] = [[], []] as [number[], number[]]
  for (let round = 0; round <= stage.rounds; round += 1) {
    ours.push(microsecondsOf(() => program.run(INPUT)))
    beside.push(microsecondsOf(() => runBare(bare)))
  }
  stage.say(`  ${ours.map((us) => us.toFixed(1)).join(', ')} µs`)
  return Promise.resolve([
    {
      what: 'A transform of a small event, in its sandbox',
      unit: 'µs of processor time',
      ours: least(ours),
      beside: { name: 'the same code without a sandbox', value: least(beside) },
      aim: { most: 60 },
    },
  ])
}

const runBare = (bare: unknown): unknown =>
  typeof bare === 'function' ? Reflect.apply(bare, undefined, [EVENT]) : undefined

/** The first round compiles the engine. */
const least = (of: readonly number[]): number => Math.min(...of.slice(1))

function microsecondsOf(work: () => unknown): number {
  const before = process.threadCpuUsage()
  for (let time = 0; time < TIMES; time += 1) work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / TIMES
}
