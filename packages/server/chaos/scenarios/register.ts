import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../../sim/rng.ts'
import { asked } from '../asked.ts'
import { promise } from '../checks.ts'
import { counted, seconds, type Figure } from '../figures.ts'
import { exchange, type Reply } from '../http.ts'
import { capRegistrations, registeredAccounts, registrationCounts } from '../registrations/queries.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import { solve, type Challenge } from '../solve.ts'
import type { Stage } from '../stage.ts'

/** `hot`: networks that send so many that each would pass a tenth of the cap. */
const FULL = { networks: 200, hot: 4, ofHot: 30, ofOther: 2, cap: 200, addresses: 5, calmMs: 20_000 }
const SHORT = { networks: 12, hot: 2, ofHot: 6, ofOther: 4, cap: 30, addresses: 1, calmMs: 500 }
type Size = typeof FULL

/** Each address of a challenge sends the solution this often, within its rate, and the first one also a wrong solution. */
const REPEATS = 4
/** An IPv4 network has this many addresses for senders. */
const HOSTS = 250
const CONNECTIONS = 32
const TIMEOUT_MS = 60_000
const INGEST_EVERY_MS = 10
/** Ingest beside the attack may be this much slower. */
const SLOWER_MAX = 2
const TENTH = 10

/** Many networks register agents together, on two processes. The caps are exact, and each challenge is used once. */
export const register = defineScenario({
  name: 'register',
  about:
    '10,000 registrations of agents from 200 networks at once, over two processes: exact caps, each challenge used once',
  processes: 2,
  env: { AGENT_WORK: '1', TRUST_PROXY: '127.0.0.0/8' },
  rounds: 1,
  ratePerSecond: 1_000 / INGEST_EVERY_MS,
  play,
})

type Attempt = {
  readonly ip: string
  readonly network: string
  readonly nonce: string
  readonly wrong: boolean
  readonly body: string
}
type Answered = { readonly attempt: Attempt; readonly status: number | 'broken' | 'hung'; readonly reason: string }

async function play(stage: Stage, { seed, isShort, signal, say }: Request): Promise<Outcome> {
  const size = isShort ? SHORT : FULL
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  try {
    await asked(stage, (database) => capRegistrations(database, { cap: size.cap }))
    const rng = new Rng(seed + 1)
    say('solving challenges')
    const [hot, others] = await challengesOf(stage, { agent, size })
    say('ingest alone')
    const alone = await ingestDuring(stage, () => sleep(size.calmMs, undefined, { signal }))
    const answered: Answered[] = []
    const beside = await ingestDuring(stage, async () => {
      // The hot networks go first, because the others would fill the cap before them.
      for (const wave of [hot, others]) {
        const attempts = rng.shuffled(wave)
        say(`${attempts.length} attempts`)
        // oxlint-disable-next-line no-await-in-loop -- one wave after the other
        answered.push(...(await sendAll(stage, agent, attempts)))
      }
    })
    return await judge(stage, { size, answered, times: { alone, beside } })
  } finally {
    agent.destroy()
  }
}

/** The attempts of the hot networks, and those of the others. Each challenge is sent from separate addresses of its network. */
async function challengesOf(
  stage: Stage,
  { agent, size }: { readonly agent: Agent; readonly size: Size },
): Promise<readonly [Attempt[], Attempt[]]> {
  const of = async (network: number, count: number): Promise<Attempt[]> => {
    const all: Attempt[] = []
    for (let n = 0; n < count; n += 1) {
      const at = { network: `198.18.${network}`, host: (n * size.addresses) % HOSTS, addresses: size.addresses }
      // oxlint-disable-next-line no-await-in-loop -- solving occupies the process anyway
      all.push(...(await attemptsOf(stage, agent, at)))
    }
    return all
  }
  const [hot, others]: [Attempt[], Attempt[]] = [[], []]
  for (let network = 0; network < size.networks; network += 1) {
    const isHot = network < size.hot
    // oxlint-disable-next-line no-await-in-loop -- as above
    ;(isHot ? hot : others).push(...(await of(network, isHot ? size.ofHot : size.ofOther)))
  }
  return [hot, others]
}

type Origin = { readonly network: string; readonly host: number; readonly addresses: number }

/** Every attempt with one solved challenge. */
// oxlint-disable-next-line max-params -- the stage, the connections, and the addresses
async function attemptsOf(
  stage: Stage,
  agent: Agent,
  { network, host, addresses }: Origin,
): Promise<readonly Attempt[]> {
  const ips = Array.from({ length: addresses }, (_none, n) => `${network}.${1 + host + n}`)
  const [first = ''] = ips
  const given = await challengeFor(stage, agent, first)
  // The caps are reached, so nobody there can register.
  if (given === undefined) return []
  const { terms_version, ...challenge } = given
  const solution = solve(challenge)
  const body = (derivedKey: string): string =>
    JSON.stringify({
      agent_name: `Agent ${first}`,
      accept_terms: terms_version,
      challenge,
      solution: { ...solution, derivedKey },
    })
  const right = body(solution.derivedKey)
  const at = { network, nonce: challenge.parameters.nonce }
  const guess = solution.derivedKey.slice(0, -1) + (solution.derivedKey.endsWith('0') ? '1' : '0')
  return [
    { ...at, ip: first, wrong: true, body: body(guess) },
    ...ips.flatMap((ip) => Array.from({ length: REPEATS }, () => ({ ...at, ip, wrong: false, body: right }))),
  ]
}

const CAPS = new Set(['daily_cap_reached', 'source_daily_limit'])

type Given = Challenge & { readonly terms_version: string }

// oxlint-disable-next-line max-params -- the stage, the connections, and the address
async function challengeFor(stage: Stage, agent: Agent, ip: string): Promise<Given | undefined> {
  const reply = await exchange({
    method: 'GET',
    url: new URL('/v1/agents/register/challenge', stage.endpoint).href,
    headers: { 'x-forwarded-for': ip },
    agent,
    timeoutMs: TIMEOUT_MS,
  })
  if (CAPS.has(said(reply).reason)) return undefined
  if (typeof reply === 'string' || reply.status !== 200) throw new Error(`No challenge: ${JSON.stringify(reply)}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer to the request of a challenge
  const { parameters, signature, terms_version } = JSON.parse(reply.body) as Given
  return { parameters, signature, terms_version }
}

// oxlint-disable-next-line max-params -- the stage, the connections, and the attempts
async function sendAll(stage: Stage, agent: Agent, attempts: readonly Attempt[]): Promise<readonly Answered[]> {
  const waiting = attempts.toReversed()
  const answered: Answered[] = []
  const renewed = new Map<string, Set<string>>()
  const url = new URL('/v1/agents/register', stage.endpoint).href
  const work = async (): Promise<void> => {
    for (let attempt = waiting.pop(); attempt !== undefined; attempt = waiting.pop()) {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': attempt.ip }
      // oxlint-disable-next-line no-await-in-loop -- one request of each connection at a time
      const reply = await exchange({ method: 'POST', url, headers, body: attempt.body, agent, timeoutMs: TIMEOUT_MS })
      const answer = said(reply)
      answered.push({ attempt, ...answer })
      // A busy database refuses some; their senders send them again.
      if (answer.status === 503) waiting.unshift(attempt)
      if (answer.reason === 'challenge_expired')
        waiting.unshift(...(await renewedOf(stage, agent, { attempt, renewed })))
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  return answered
}

/**
 * The work has increased since the challenge was given, so its sender solves another, once, at an address that has sent nothing.
 * `renewed`: the challenges for which that was done, by their network.
 */
// oxlint-disable-next-line max-params -- the stage, the connections, and the attempt
async function renewedOf(
  stage: Stage,
  agent: Agent,
  of: { readonly attempt: Attempt; readonly renewed: Map<string, Set<string>> },
): Promise<readonly Attempt[]> {
  const { network, nonce } = of.attempt
  const done = of.renewed.get(network) ?? new Set()
  of.renewed.set(network, done)
  if (done.has(nonce)) return []
  done.add(nonce)
  return attemptsOf(stage, agent, { network, host: HOSTS - done.size, addresses: 1 })
}

function said(reply: Reply | 'broken' | 'hung'): Pick<Answered, 'status' | 'reason'> {
  if (typeof reply === 'string') return { status: reply, reason: reply }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every refusal has this body
  const { reason } = JSON.parse(reply.body) as { readonly reason?: string }
  return { status: reply.status, reason: reason ?? 'registered' }
}

/** Sends events at a steady pace while `work` runs. Returns their times in milliseconds; one without a 201 counts as endless. */
async function ingestDuring(stage: Stage, work: () => Promise<unknown>): Promise<readonly number[]> {
  const times: Promise<number>[] = []
  const send = async (n: number): Promise<number> => {
    const from = performance.now()
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ n })
    const reply = await exchange({
      method: 'POST',
      url: stage.endpoint,
      headers,
      body,
      agent: own,
      timeoutMs: TIMEOUT_MS,
    })
    return typeof reply !== 'string' && reply.status === 201 ? performance.now() - from : Infinity
  }
  const own = new Agent({ keepAlive: true })
  const timer = setInterval(() => times.push(send(times.length)), INGEST_EVERY_MS)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  const all = await Promise.all(times)
  own.destroy()
  return all
}

type Seen = {
  readonly size: Size
  readonly answered: readonly Answered[]
  readonly times: { readonly alone: readonly number[]; readonly beside: readonly number[] }
}

/** The refusals of an attack. Everything else is a broken promise. */
const REFUSALS: ReadonlySet<string> = new Set([
  'daily_cap_reached',
  'source_daily_limit',
  'registration_in_progress',
  'challenge_spent',
  'challenge_expired',
  // The database was too busy. The agent may send the same request again.
  'registration_incomplete',
  'agent_registration_unavailable',
])

async function judge(stage: Stage, { size, answered, times }: Seen): Promise<Outcome> {
  const [accounts, counts] = await asked(stage, async (database) => [
    await registeredAccounts(database),
    await registrationCounts(database),
  ])
  const registered = answered.filter(({ status }) => status === 201)
  const tenth = size.cap / TENTH
  const of = (network: string): number => registered.filter(({ attempt }) => attempt.network === network).length
  const networks = [...new Set(answered.map(({ attempt }) => attempt.network))]
  const hot = networks.slice(0, size.hot)
  const findings = [
    promise('more accounts than the cap of the day', differing(accounts > size.cap, `${accounts} of ${size.cap}`)),
    promise('fewer accounts than the cap of the day', differing(accounts < size.cap, `${accounts} of ${size.cap}`)),
    promise(
      'more accounts of a network than a tenth of the cap',
      networks.filter((network) => of(network) > tenth).map((network) => `${network}: ${of(network)} of ${tenth}`),
    ),
    promise(
      'fewer accounts of a busy network than its tenth',
      hot.filter((network) => of(network) < tenth).map((network) => `${network}: ${of(network)} of ${tenth}`),
    ),
    promise('challenges used twice', repeatedIn(registered.map(({ attempt }) => attempt.nonce))),
    promise(
      'wrong solutions accepted',
      registered.filter(({ attempt }) => attempt.wrong).map(({ attempt }) => attempt.ip),
    ),
    promise('acknowledged, not stored', differing(registered.length > accounts, `${registered.length} of ${accounts}`)),
    promise('counted wrongly', differing(counts !== accounts, `${counts} of ${accounts}`)),
    promise(
      'refused in an unknown way',
      answered.filter(isUnknown).map(({ status, reason }) => `${status} ${reason}`),
    ),
  ]
  const reasons = [...Map.groupBy(answered, ({ reason }) => reason)].map(([reason, all]) => `${all.length} ${reason}`)
  const figures = [
    counted('attempts / networks', `${answered.length} / ${networks.length}`),
    counted('answers', reasons.toSorted().join(', ')),
    slower(times, size),
  ]
  return { findings, figures, stopped: null }
}

function isUnknown({ attempt, status, reason }: Answered): boolean {
  if (status === 201) return false
  return attempt.wrong ? reason !== 'invalid_proof_of_work' && !REFUSALS.has(reason) : !REFUSALS.has(reason)
}

const differing = (isBroken: boolean, example: string): readonly string[] => (isBroken ? [example] : [])

function repeatedIn(texts: readonly string[]): readonly string[] {
  return [...Map.groupBy(texts, (text) => text)].filter(([, all]) => all.length > 1).map(([text]) => text)
}

/** The times of ingest beside the attack. In the short form the machine may be busy, so nothing is promised. */
function slower({ alone, beside }: Seen['times'], { calmMs }: Size): Figure {
  const [a, b] = [p99(alone), p99(beside)]
  return {
    figure: 'ingest p99 alone / beside the attack',
    value: `${seconds(a)} / ${seconds(b)}, ×${(b / a).toFixed(2)} (${alone.length}, ${beside.length})`,
    limit: `max ×${SLOWER_MAX}`,
    ok: calmMs === SHORT.calmMs || b <= SLOWER_MAX * a,
  }
}

function p99(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0
}
