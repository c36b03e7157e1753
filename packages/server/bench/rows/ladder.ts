import { SECRET } from '../payload.ts'
import { adminOf, type Admin } from '../postroad.ts'
import { postgresSeconds, processorSeconds } from '../processes.ts'
import { settle, withDatabase } from '../queries.ts'
import { median } from '../statistics.ts'
import { inTurns, type Stage } from '../stage.ts'
import type { BareHttpVerbs } from '../bare-http.ts'
import type { LoadVerbs, Target } from '../load.ts'
import type { Figure } from '../table.ts'

const CONNECTIONS = 64
const VERIFICATION = { scheme: 'code_host', secret: SECRET }
const CRITERIA = [
  { path: 'ref', equals: 'refs/heads/main' },
  { path: 'size', op: 'gte', value: 1 },
  { path: 'pusher.email', op: 'regex', value: '^[a-z]+@example' },
]
const MAPPINGS = ['ref', 'size', 'repository.full_name', 'pusher.name', 'commits.0.id'].map((path) => ({
  target: path,
  path,
}))
const ALLOWLIST = ['10.0.0.0/8', '2001:db8::/32', '127.0.0.0/8']

/** One endpoint each: its checks, and whether its senders use an idempotency key. */
const CONTENDERS = {
  open: { settings: {}, signed: false, keyed: false },
  signed: { settings: { verification: VERIFICATION }, signed: true, keyed: false },
  traced: { settings: { verification: VERIFICATION, criteria: CRITERIA }, signed: true, keyed: false },
  mapped: { settings: { verification: VERIFICATION, mappings: MAPPINGS }, signed: true, keyed: false },
  keyed: { settings: { verification: VERIFICATION }, signed: true, keyed: true },
  whole: {
    settings: { verification: VERIFICATION, criteria: CRITERIA, mappings: MAPPINGS, ip_allowlist: ALLOWLIST },
    signed: true,
    keyed: true,
  },
} as const
type Name = keyof typeof CONTENDERS

type Round = { readonly perSecond: number; readonly serverUs: number; readonly postgresUs: number }

/** The cost of each optional check of ingest, and the rate with all of them on, beside bare HTTP. */
export async function ladder(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const server = await stage.server({ folder })
  const admin = await adminOf(server, folder)
  const bareHttp = stage.child<BareHttpVerbs>('bare-http.ts')
  const load = stage.child<LoadVerbs>('load.ts')
  const ceiling: Target = { port: await bareHttp.ask('listen', null), path: '/', secret: SECRET }
  const ms = stage.seconds * 1_000
  const closed = (target: Target, runMs: number) =>
    load.ask('closed', { ...target, connections: CONNECTIONS, until: { ms: runMs } })
  const look = async () => ({
    server: await processorSeconds([server.pid]),
    postgres: await postgresSeconds(folder),
  })
  const measured = async (target: Target): Promise<Round> => {
    await withDatabase(server.target, settle)
    const before = await look()
    const { answered, perSecond } = await closed(target, ms)
    const after = await look()
    const each = (seconds: number): number => (seconds * 1e6) / answered
    return {
      perSecond,
      serverUs: each(after.server - before.server),
      postgresUs: each(after.postgres - before.postgres),
    }
  }

  const rounds = new Map<Name, Round[]>()
  const bare: number[] = []
  const contenders: Record<string, () => Promise<void>> = {
    bare: async () => void bare.push((await closed(ceiling, ms)).perSecond),
  }
  for (const name of namesOf()) {
    const taken: Round[] = []
    rounds.set(name, taken)
    // oxlint-disable-next-line no-await-in-loop -- one endpoint after the other
    const target = { port: server.port, ...(await endpoint(admin, name)) }
    // oxlint-disable-next-line no-await-in-loop -- warmed before any is measured
    await closed(target, Math.min(2_000, ms))
    contenders[name] = async () => void taken.push(await measured(target))
  }
  await inTurns(stage.rounds, contenders)
  await Promise.all([load.stop(), bareHttp.stop()])
  await server.stop()
  return figuresOf((name, member) => median((rounds.get(name) ?? []).map((round) => round[member])), median(bare))
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table above
const namesOf = (): readonly Name[] => Object.keys(CONTENDERS) as Name[]

async function endpoint(admin: Admin, name: Name): Promise<Omit<Target, 'port'>> {
  const { settings, signed, keyed } = CONTENDERS[name]
  const { webhook } = await admin<{ webhook: { public_path: string } }>('POST', 'webhooks', {
    name,
    dataset: name,
    ...settings,
  })
  return { path: webhook.public_path, secret: signed ? SECRET : undefined, keyed }
}

function figuresOf(of: (name: Name, member: keyof Round) => number, bare: number): readonly Figure[] {
  const cost = (what: string, name: Name, than: { readonly name: Name; readonly said: string }): readonly Figure[] => [
    {
      what: `${what}, server`,
      unit: 'µs',
      ours: of(name, 'serverUs'),
      beside: { name: than.said, value: of(than.name, 'serverUs') },
    },
    {
      what: `${what}, PostgreSQL`,
      unit: 'µs',
      ours: of(name, 'postgresUs'),
      beside: { name: than.said, value: of(than.name, 'postgresUs') },
    },
  ]
  const signed = { name: 'signed', said: 'signature only' } as const
  return [
    {
      what: 'Durable ingest, whole ladder on',
      unit: '/s',
      ours: of('whole', 'perSecond'),
      beside: { name: 'bare `node:http`', value: bare },
      aim: { leastRatio: 0.4 },
    },
    {
      what: 'the same',
      unit: '/s',
      ours: of('whole', 'perSecond'),
      beside: { name: 'signature only', value: of('signed', 'perSecond') },
    },
    ...cost('An event with the whole ladder', 'whole', signed),
    ...cost('with a signature only', 'signed', { name: 'open', said: 'nothing to check' }),
    ...cost('with criteria and their trace', 'traced', signed),
    ...cost('with mappings', 'mapped', signed),
    ...cost('with an idempotency key', 'keyed', signed),
  ]
}
