import type { AttackerVerbs } from '../../chaos/fair/attacker.ts'
import type { LoadVerbs } from '../load.ts'
import { SECRET } from '../payload.ts'
import { adminOf, makeEndpoint } from '../postroad.ts'
import { loopSeconds, processorSeconds } from '../processes.ts'
import type { Stage } from '../stage.ts'
import { quantile } from '../statistics.ts'
import type { Figure } from '../table.ts'
import { attackingTenant, REGISTRATION, type NamedAttack } from '../../chaos/fair/attacking-tenant.ts'

const PER_SECOND = 20

type Measured = { readonly attack: NamedAttack; readonly waits: readonly number[]; readonly cells: readonly string[] }

/** How long another tenant's small events wait for their 201 while one tenant sends what costs most. */
export async function attacks(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const server = await stage.server({ folder, settings: REGISTRATION })
  const [load, attacker] = [stage.child<LoadVerbs>('load.ts'), stage.child<AttackerVerbs>('../chaos/fair/attacker.ts')]
  const path = await makeEndpoint(await adminOf(server, folder), 'bench', SECRET)
  const found = await attackingTenant(server)
  const [ms, { port, pid }] = [stage.seconds * 1_000, server]
  const victim = async (): Promise<readonly number[]> => {
    const pace = { port, path, secret: SECRET, perSecond: PER_SECOND, ms, from: 0 }
    const { sentAt, answeredAt } = await load.ask('open', pace)
    return sentAt.map((at, index) => (answeredAt[index] ?? Infinity) - at)
  }
  const measure = async (attack: NamedAttack): Promise<Measured> => {
    stage.say(`  ${attack.name} …`)
    const { name: _name, ...rest } = attack
    const before = [await loopSeconds(pid), await processorSeconds([pid])] as const
    const [waits, { answers, slowestMs }] = await Promise.all([victim(), attacker.ask('attack', { ...rest, port, ms })])
    const count = Object.values(answers).reduce((sum, one) => sum + one, 0)
    const each = (seconds: number): string => `${((seconds * 1_000) / count).toFixed(1)} ms`
    const [onLoop, whole] = [(await loopSeconds(pid)) - before[0], (await processorSeconds([pid])) - before[1]]
    const named = Object.entries(answers).map(([status, times]) => `${times} × ${status}`)
    return { attack, waits, cells: [named.join(', '), `${Math.round(slowestMs)} ms`, each(onLoop), each(whole)] }
  }
  await victim()
  const idle = await victim()
  const measured: Measured[] = []
  // oxlint-disable-next-line no-await-in-loop -- one attack at a time
  for (const attack of found) measured.push(await measure(attack))
  stage.addTable(tableOf(idle, measured))
  await Promise.all([load.stop(), attacker.stop()])
  await server.stop()
  return measured.map(({ attack, waits }) => ({
    what: `Answer to another tenant beside ${attack.name}, p99`,
    unit: 'ms',
    ours: quantile(waits, 0.99),
    beside: { name: 'without it', value: quantile(idle, 0.99) },
  }))
}

const cellsOf = (waits: readonly number[]): readonly string[] =>
  [quantile(waits, 0.5), quantile(waits, 0.99), Math.max(...waits)].map((ms) => `${ms.toFixed(1)} ms`)

function tableOf(idle: readonly number[], measured: readonly Measured[]) {
  return {
    title: 'Attacks of one tenant',
    head: [
      'Attack',
      'Its answers',
      'Its slowest',
      'Loop each',
      'Processor each',
      'Victim p50',
      'Victim p99',
      'Victim max',
    ],
    rows: [
      ['none', '', '', '', '', ...cellsOf(idle)],
      ...measured.map(({ attack, waits, cells }) => [attack.name, ...cells, ...cellsOf(waits)]),
    ],
  }
}
