import { SECRET } from '../payload.ts'
import { adminOf, type Admin } from '../postroad.ts'
import { postgresSeconds, processorSeconds } from '../processes.ts'
import { copyDestinations, copyRules, logBytes, settle, withDatabase } from '../queries.ts'
import { median } from '../statistics.ts'
import { inTurns, type Stage } from '../stage.ts'
import type { LoadVerbs } from '../load.ts'
import type { Figure } from '../table.ts'

const CONNECTIONS = 64
const DESTINATIONS = 10_000
const RULES = 1_000
const FAN_OUT = 100

/** One project each, whose events one rule files: what else the project has, and the number of destinations of each event. */
const CONTENDERS = {
  empty: { destinations: 0, rules: 0, receivers: 0 },
  crowded: { destinations: DESTINATIONS, rules: RULES, receivers: 0 },
  hundred: { destinations: 0, rules: 0, receivers: FAN_OUT },
} as const
type Name = keyof typeof CONTENDERS

type Round = {
  readonly perSecond: number
  readonly serverUs: number
  readonly postgresUs: number
  readonly logBytes: number
}

/** The cost of an event in a project with many destinations and rules of other data, and of an event with many receivers. */
export async function routing(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  // Nothing is delivered, because the row measures how events are accepted.
  const server = await stage.server({ folder, roles: 'web,work', settings: { ADMIN_REQUESTS_MAX: '0' } })
  const admin = await adminOf(server, folder)
  const load = stage.child<LoadVerbs>('load.ts')
  const ms = stage.seconds * 1_000
  const look = () =>
    withDatabase(server.target, async (db) => ({
      server: await processorSeconds([server.pid]),
      postgres: await postgresSeconds(folder),
      log: await logBytes(db),
    }))
  const rounds = new Map<Name, Round[]>()
  const contenders: Record<string, () => Promise<void>> = {}
  for (const name of namesOf()) {
    const taken: Round[] = []
    rounds.set(name, taken)
    // oxlint-disable-next-line no-await-in-loop -- one project after the other
    const target = { port: server.port, path: await project(admin, name), secret: SECRET }
    // oxlint-disable-next-line no-await-in-loop -- as above
    await withDatabase(server.target, (db) => crowd(db, name))
    const closed = (runMs: number) => load.ask('closed', { ...target, connections: CONNECTIONS, until: { ms: runMs } })
    // oxlint-disable-next-line no-await-in-loop -- warmed before any is measured
    await closed(Math.min(2_000, ms))
    contenders[name] = async () => {
      await withDatabase(server.target, settle)
      const before = await look()
      const { answered, perSecond } = await closed(ms)
      const after = await look()
      const each = (much: number): number => much / answered
      taken.push({
        perSecond,
        serverUs: each((after.server - before.server) * 1e6),
        postgresUs: each((after.postgres - before.postgres) * 1e6),
        logBytes: each(after.log - before.log),
      })
    }
  }
  await inTurns(stage.rounds, contenders)
  await load.stop()
  await server.stop()
  return figuresOf((name, member) => median((rounds.get(name) ?? []).map((round) => round[member])))
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table above
const namesOf = (): readonly Name[] => Object.keys(CONTENDERS) as Name[]

/** Returns the path of an ingest key whose events one rule files. */
async function project(admin: Admin, name: Name): Promise<string> {
  const { project: made } = await admin<{ project: { id: string } }>('POST', 'projects', { name })
  const inside = `projects/${made.id}`
  const { key } = await admin<{ key: string }>('POST', `${inside}/ingest-keys`, { name })
  await admin('POST', `${inside}/rules`, {
    name: 'orders',
    dataset: 'orders',
    conditions: [{ path: 'ref', op: 'exists' }],
  })
  for (let n = 0; n < CONTENDERS[name].receivers; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await admin('POST', `${inside}/destinations`, { name: `d${n}`, url: 'http://127.0.0.1:9/', datasets: ['orders'] })
  }
  if (CONTENDERS[name].destinations > 0)
    await admin('POST', `${inside}/destinations`, { name: 'other', url: 'http://127.0.0.1:9/', datasets: ['other'] })
  return `/v1/ingest/${key}`
}

async function crowd(db: Parameters<typeof copyRules>[0], name: Name): Promise<void> {
  const { destinations, rules } = CONTENDERS[name]
  if (rules > 0) await copyRules(db, { project: name, count: rules })
  if (destinations > 0) await copyDestinations(db, { project: name, count: destinations })
}

function figuresOf(of: (name: Name, member: keyof Round) => number): readonly Figure[] {
  const figure = (name: Name, what: string, { member, unit }: { member: keyof Round; unit: string }): Figure => ({
    what,
    unit,
    ours: of(name, member),
    beside: { name: 'an empty project', value: of('empty', member) },
  })
  const server = { member: 'serverUs', unit: 'µs' } as const
  const postgres = { member: 'postgresUs', unit: 'µs' } as const
  const log = { member: 'logBytes', unit: 'B' } as const
  const many = `${DESTINATIONS.toLocaleString('en-US')} destinations and ${RULES.toLocaleString('en-US')} rules of other data`
  return [
    { ...figure('crowded', `An event beside ${many}, server`, server), aim: { mostRatio: 1.1 } },
    { ...figure('crowded', 'the same, PostgreSQL', postgres), aim: { mostRatio: 1.1 } },
    { ...figure('crowded', 'the same, log', log), aim: { mostRatio: 1.1 } },
    figure('hundred', `An event for ${FAN_OUT} destinations, server`, server),
    figure('hundred', 'the same, PostgreSQL', postgres),
    figure('hundred', 'the same, log', log),
  ]
}
