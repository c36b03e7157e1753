import { setTimeout as sleep } from 'node:timers/promises'
import { startChild, type Child } from '../../bench/child.ts'
import { Rng } from '../../sim/rng.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { asked } from '../asked.ts'
import { promise } from '../checks.ts'
import { createDestinations } from '../destinations.ts'
import type { AttackerVerbs, AttackResult } from '../fair/attacker.ts'
import { aTenant, attackingTenant, REGISTRATION, type NamedAttack, type Tenant } from '../fair/attacking-tenant.ts'
import { watchUsage, type Usage } from '../fair/loop-time.ts'
import type { PeerName } from '../fair/peers.ts'
import { routeRequests } from '../fair/route-requests.ts'
import { arrivedAt, startVictim, VICTIM, type Sent, type Victim } from '../fair/victim.ts'
import { quantile } from '../../bench/statistics.ts'
import { counted, seconds, type Figure } from '../figures.ts'
import { capRegistrations } from '../registrations/queries.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import { openSink, type Sink } from '../sink.ts'
import type { Stage } from '../stage.ts'

/** `routes`: how many routes the attacker draws. `events`: how many events of 1 MiB it stores. */
const FULL = { idleMs: 20_000, attackMs: 6_000, events: 50, routes: 400 }
const SHORT = { idleMs: 4_000, attackMs: 1_500, events: 12, routes: 40 }
type Size = typeof FULL

/** An event may wait this long beyond the longest wait on an idle server. */
const BEYOND_IDLE_MS = 250
/** The same for the processor time of the loop meanwhile, which a busy machine lengthens too, but far less. */
const LOOP_BEYOND_IDLE_MS = 500
const P99_RATIO_MAX = 2
const MEMORY_BEYOND_IDLE_MIB = 150
/** A connection reads at most 5 MiB of an answer; the rest is in the buffers of the two systems. */
const TAKEN_BYTES_MAX = 24 * 1_048_576
const MIB = 1_048_576
const REST_MS = 500
const DELIVERED_WITHIN_MS = 60_000
/** The limit of requests of the admin API: 100 in 10 s. */
const REQUEST_EVERY_MS = 100

/** A tenant that registered itself attacks in every way at its own limits, and another tenant does not notice. */
export const fair = defineScenario({
  name: 'fair',
  about: 'one tenant attacks in every way that its limits allow: another one gets its answers and deliveries as before',
  env: { ...REGISTRATION, ADMIN_REQUESTS_MAX: '100' },
  rounds: 1,
  ratePerSecond: 20,
  play,
})

type Spell = {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly result: AttackResult | null
  /** The most bytes that one connection took from a hostile peer. */
  readonly taken: number
}
type Attacker = Child<AttackerVerbs>
type Attack = { readonly name: string; readonly run: (ms: number) => Promise<AttackResult> }

async function play(stage: Stage, { seed, rounds, isShort, signal, say }: Request): Promise<Outcome> {
  const size = isShort ? SHORT : FULL
  const attacker = startChild<AttackerVerbs>('../chaos/fair/attacker.ts')
  const usage = watchUsage(stage.server.lives.at(-1)?.pid ?? 0)
  const sink = await openSink(stage.folder)
  let victim: Victim | undefined
  try {
    await asked(stage, (database) => capRegistrations(database, { cap: 10_000 }))
    await createDestinations({ stage, sink }, [
      { name: VICTIM, datasets: [VICTIM], maxInFlight: 20, scheme: 'standard', conduct: () => ({ status: 200 }) },
    ])
    say('the attacker prepares')
    const rng = new Rng(seed)
    const attacks = await attacksOf(stage, { attacker, rng, size, usage })
    victim = startVictim(stage)
    await sleep(REST_MS)
    const spells: Spell[] = []
    const spell = async (name: string, work: () => Promise<AttackResult | null>): Promise<void> => {
      signal.throwIfAborted()
      say(name)
      const from = systemClock().now()
      const result = await work()
      const to = systemClock().now()
      await sleep(REST_MS)
      const taken = Math.max(0, ...Object.values(await attacker.ask('taken', undefined)))
      spells.push({ name, from, to, result, taken })
    }
    await spell('idle', () => sleep(size.idleMs, null, { signal }))
    for (let round = 0; round < rounds; round += 1)
      for (const { name, run } of rng.shuffled(attacks)) {
        // oxlint-disable-next-line no-await-in-loop -- one attack at a time
        await spell(name, () => run(size.attackMs))
      }
    await victim.stop()
    await delivered({ sink, victim }, signal)
    return judge({ spells, victim, arrivals: arrivedAt(sink), usage })
  } finally {
    usage.stop()
    await victim?.stop()
    await attacker.stop()
    await sink.stop()
  }
}

type Setting = { readonly attacker: Attacker; readonly rng: Rng; readonly size: Size; readonly usage: Usage }

async function attacksOf(stage: Stage, { attacker, rng, size, usage }: Setting): Promise<readonly Attack[]> {
  const port = Number(new URL(stage.endpoint).port)
  const at = { port }
  // Each has its own work to spend, as someone has who registers again.
  const [first, second, third, linked, drawing] = [
    await attackingTenant(at, size.events),
    await attackingTenant(at, size.events),
    await attackingTenant(at, size.events),
    await aTenant(at),
    await aTenant(at),
  ]
  const requests = [...first.slice(0, HALF), ...second.slice(HALF)].map(({ name, ...attack }): Attack => ({
    name,
    run: (ms) => attacker.ask('attack', { ...attack, port, ms }),
  }))
  const drawn = await routeRequests(drawing, { rng, count: size.routes })
  return [
    ...requests,
    ...(await linkAttacks({ tenant: linked, attacker, port })),
    { name: EXCESS, run: () => exceed({ attacks: third, attacker, port, usage }) },
    { name: 'routes', run: () => attacker.ask('sendEach', { port, requests: drawn, everyMs: REQUEST_EVERY_MS }) },
    {
      name: '200 streams',
      run: (ms) =>
        attacker.ask('openStreams', { port, path: '/admin/api/stream', headers: bearer(linked), count: 200, ms }),
    },
  ]
}

/** The attacks of a tenant by themselves use up its work, so two tenants share them. */
const HALF = 6

/** The attack with which a tenant starts more than its plan allows, and its refusal. */
const EXCESS = 'more work than the plan allows'
const REFUSED = '429 work_limited'
/** The plan allows ten seconds at once. The server knows the cost of a task only after it, and does some work for itself. */
const EXCESS_MS = 45_000
const EXCESS_PIECE_MS = 1_000
const EXCESS_PIECES = 100

type Exceeding = {
  readonly attacks: readonly NamedAttack[]
  readonly attacker: Attacker
  readonly port: number
  readonly usage: Usage
}

/** Starts one dry run after another until one is refused, or until the server has done far more than the plan allows. */
async function exceed({ attacks, attacker, port, usage }: Exceeding): Promise<AttackResult> {
  const found = attacks.find(({ name }) => name === 'a dry run')
  if (found === undefined) throw new Error('There is no such attack.')
  const { name: _name, ...attack } = found
  const answers: Record<string, number> = {}
  const [from, now] = [systemClock().now(), () => systemClock().now()]
  for (let piece = 0; piece < EXCESS_PIECES; piece += 1) {
    // oxlint-disable-next-line no-await-in-loop -- until it is refused
    const result = await attacker.ask('attack', { ...attack, port, ms: EXCESS_PIECE_MS })
    for (const [status, count] of Object.entries(result.answers)) answers[status] = (answers[status] ?? 0) + count
    if (answers[REFUSED] !== undefined || usage.allMs(from, now()) > EXCESS_MS) break
  }
  return { answers, slowestMs: 0 }
}

const bearer = ({ key }: Tenant): Record<string, string> => ({ authorization: `Bearer ${key}` })

type Linked = { readonly tenant: Tenant; readonly attacker: Attacker; readonly port: number }

/** The settings of destinations whose servers are hostile. */
const LINKS = [
  ['nats greeting', 'nats', { kind: 'nats', subject: 's' }],
  ['nats message', 'nats', { kind: 'nats', subject: 's' }],
  ['redis text', 'redis', { kind: 'redis_stream', stream: 's' }],
  ['redis line', 'redis', { kind: 'redis_stream', stream: 's' }],
  [
    'postgres row',
    'postgres',
    { kind: 'postgres', table: 't', columns: { id: 'id', body: 'body' }, encryption: 'off' },
  ],
  ['kafka response', 'kafka', { kind: 'kafka', topic: 't' }],
  ['amqp frame', 'amqp', { kind: 'amqp', routing_key: 'r' }],
] as const satisfies readonly (readonly [PeerName, string, object])[]

const PATHS: Readonly<Record<string, string>> = { redis: '/0', postgres: '/db', amqp: '/%2F' }

async function linkAttacks({ tenant, attacker, port }: Linked): Promise<readonly Attack[]> {
  const { admin } = tenant
  const ports = await attacker.ask('listen', undefined)
  const headers = { ...bearer(tenant), 'content-type': 'application/json' }
  const create = async (name: string, body: object): Promise<string> => {
    const { destination } = await admin<{ destination: { id: string } }>('POST', 'destinations', { name, ...body })
    return destination.id
  }
  const tests = await Promise.all(
    LINKS.map(async ([name, scheme, config]): Promise<Attack> => {
      const url = `${scheme}://127.0.0.1:${ports[name]}${PATHS[scheme] ?? ''}`
      const id = await create(name, { url, config, datasets: ['nothing'], timeout_ms: LINK_TIMEOUT_MS })
      const path = `/admin/api/destinations/${id}/test`
      const test = { port, method: 'POST', path, headers, body: { text: '{}' }, connections: 2 }
      return { name: `${name} without an end`, run: (ms) => attacker.ask('attack', { ...test, ms }) }
    }),
  )
  // The first connection of each kind loads its driver, once in the life of a process.
  for (const { run } of tests) await run(1)
  return [...tests, await sourceAttack({ admin, ports }), await slotAttack({ tenant, attacker, port, ports, create })]
}

const LINK_TIMEOUT_MS = 1_000

type Ports = Readonly<Record<string, number>>

async function sourceAttack({ admin, ports }: Pick<Tenant, 'admin'> & { readonly ports: Ports }): Promise<Attack> {
  const settings = { kind: 'sse', url: `http://127.0.0.1:${ports['sse event']}/` }
  const made = await admin<{ source: { id: string } }>('POST', 'sources', {
    name: 'endless',
    dataset: 'd',
    settings,
    enabled: false,
  })
  const switched = (enabled: boolean): Promise<unknown> => admin('PATCH', `sources/${made.source.id}`, { enabled })
  return {
    name: 'an event of a source without an end',
    run: async (ms) => {
      await switched(true)
      await sleep(ms)
      await switched(false)
      return NO_ANSWERS
    },
  }
}

const NO_ANSWERS: AttackResult = { answers: {}, slowestMs: 0 }

type Slots = Linked & { readonly ports: Ports; readonly create: (name: string, body: object) => Promise<string> }

/** Two destinations that never answer take all the slots that the plan allows. */
async function slotAttack({ tenant, attacker, port, ports, create }: Slots): Promise<Attack> {
  const { webhook } = await tenant.admin<{ webhook: { public_path: string } }>('POST', 'webhooks', {
    name: 'slow',
    dataset: 'slow',
  })
  for (const name of ['slow 1', 'slow 2']) {
    const url = `http://127.0.0.1:${ports['slow']}/`
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await create(name, { url, datasets: ['slow'], max_in_flight: 250, timeout_ms: 60_000 })
  }
  const headers = { 'content-type': 'application/json' }
  const post = { port, method: 'POST', path: webhook.public_path, headers, body: { text: '{"n":1}' }, connections: 4 }
  return { name: 'two destinations that never answer', run: (ms) => attacker.ask('attack', { ...post, ms }) }
}

/** Waits until every event of the victim has arrived. */
async function delivered(
  { sink, victim }: { readonly sink: Sink; readonly victim: Victim },
  signal: AbortSignal,
): Promise<void> {
  const until = systemClock().now() + DELIVERED_WITHIN_MS
  while (arrivedAt(sink).size < victim.sent.length && systemClock().now() < until) {
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    await sleep(REST_MS, undefined, { signal })
  }
}

type Seen = {
  readonly spells: readonly Spell[]
  readonly victim: Victim
  readonly arrivals: ReadonlyMap<string, number>
  readonly usage: Usage
}

/** How long the events of a spell waited, and for how long the loop worked meanwhile. */
type Waits = { readonly ms: readonly number[]; readonly loopMs: readonly number[] }

function judge({ spells, victim, arrivals, usage }: Seen): Outcome {
  const [idle, ...attacks] = spells
  if (idle === undefined) throw new Error('Nothing was measured.')
  const eventsOf = ({ from, to }: Spell): readonly Sent[] => victim.sent.filter(({ at }) => at >= from && at < to)
  const waitsOf = (ends: (event: Sent) => number | undefined, spell: Spell): Waits => {
    const spans = eventsOf(spell).flatMap((event) => {
      const end = ends(event)
      return end === undefined ? [] : [{ from: event.at, to: end }]
    })
    return { ms: spans.map(({ from, to }) => to - from), loopMs: spans.map(({ from, to }) => usage.loopMs(from, to)) }
  }
  const answered = (spell: Spell): Waits => waitsOf(({ answeredAt }) => answeredAt, spell)
  const arrived = (spell: Spell): Waits => waitsOf(({ event }) => arrivals.get(event), spell)
  const memoryOf = ({ from, to }: Spell): number => usage.memoryMib(from, to)
  const late = (of: (spell: Spell) => Waits): readonly string[] => {
    const max = Math.max(...of(idle).loopMs) + LOOP_BEYOND_IDLE_MS
    return attacks.flatMap((spell) =>
      of(spell)
        .loopMs.filter((ms) => ms > max)
        .map((ms) => `${seconds(ms)} beside ${spell.name}`),
    )
  }
  const unlimited = attacks.filter(({ name, result }) => name === EXCESS && result?.answers[REFUSED] === undefined)
  const memory = Math.max(...attacks.map(memoryOf))
  const findings = [
    promise('events that were not acknowledged', victim.sent.filter(({ status }) => status !== 201).map(said)),
    promise('events that waited while the loop worked for others', late(answered)),
    promise('events that were not delivered', victim.sent.filter(({ event }) => !arrivals.has(event)).map(said)),
    promise('deliveries that waited while the loop worked for others', late(arrived)),
    promise('probes of the health that failed', victim.unhealthy),
    promise(
      'work beyond the plan that was not refused',
      unlimited.map(({ name }) => name),
    ),
    promise(
      'answers without an end that were read on',
      attacks
        .filter(({ taken }) => taken > TAKEN_BYTES_MAX)
        .map(({ name, taken }) => `${Math.round(taken / MIB)} MiB of ${name}`),
    ),
  ]
  const figures = [
    counted('events of the victim', victim.sent.length),
    ...compared('answers', [answered(idle), attacks.map(answered)]),
    ...compared('deliveries', [arrived(idle), attacks.map(arrived)]),
    {
      figure: 'memory',
      value: `${Math.round(memory)} MiB, idle ${Math.round(memoryOf(idle))} MiB`,
      limit: `max ${MEMORY_BEYOND_IDLE_MIB} MiB beyond idle`,
      ok: memory <= memoryOf(idle) + MEMORY_BEYOND_IDLE_MIB,
    },
    ...spells.map((spell) =>
      lineOf(spell, { answered: answered(spell), arrived: arrived(spell), memory: memoryOf(spell) }),
    ),
  ]
  return { findings, figures, stopped: null }
}

const said = ({ event, status }: Sent): string => `${event} ${status ?? 'without an answer'}`

/** The p99 and the longest wait beside all attacks, compared with those of the idle server in the same run. */
function compared(what: string, [idle, attacked]: readonly [Waits, readonly Waits[]]): readonly Figure[] {
  const all = attacked.flatMap(({ ms }) => ms)
  const [calm, busy] = [quantile(idle.ms, 0.99), quantile(all, 0.99)]
  const [calmMax, busyMax] = [Math.max(...idle.ms), Math.max(...all)]
  return [
    {
      figure: `${what}, p99`,
      value: `${seconds(busy)}, ${(busy / calm).toFixed(2)} × ${seconds(calm)}`,
      limit: `ratio max ${P99_RATIO_MAX}`,
      ok: busy <= P99_RATIO_MAX * calm,
    },
    {
      figure: `${what}, longest`,
      value: `${seconds(busyMax)}, idle ${seconds(calmMax)}`,
      limit: `max ${BEYOND_IDLE_MS} ms beyond idle`,
      ok: busyMax <= calmMax + BEYOND_IDLE_MS,
    },
  ]
}

type Line = { readonly answered: Waits; readonly arrived: Waits; readonly memory: number }

function lineOf({ name, result }: Spell, { answered, arrived, memory }: Line): Figure {
  const answers = Object.entries(result?.answers ?? {}).map(([status, count]) => `${count} × ${status}`)
  const times = [
    `answers p99 ${seconds(quantile(answered.ms, 0.99))}, max ${seconds(Math.max(...answered.ms))}`,
    `deliveries p99 ${seconds(quantile(arrived.ms, 0.99))}`,
    `loop max ${seconds(Math.max(...answered.loopMs))}`,
    `${Math.round(memory)} MiB`,
  ]
  return counted(name, [times.join(' · '), ...answers].join(', '))
}
