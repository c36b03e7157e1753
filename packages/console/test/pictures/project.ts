import assert from 'node:assert/strict'
import {
  aDestination,
  anIngestKey,
  aRule,
  aWebhook,
  behind,
  post,
  signedIn,
} from '../../../server/test/stage/fixtures.ts'
import { eventually, type Answer, type World } from '../../../server/test/stage/harness.ts'
import { createRollUp } from '../../../server/src/resources/workspace/rollups/index.ts'
import { aGuest, aPortal } from '../../../server/test/stage/portal-stage.ts'
import { ask, theWorkspace } from '../../../server/test/stage/people.ts'
import { automationScene } from '../stage/automation-scene.ts'
import type { Scene } from '../stage/place.ts'
import { aReceiver, type Answering, type Receiver } from './receivers.ts'
import { Chance, payloadFrom, SCHEMES, signatureOf, type SenderName } from './senders.ts'

/**
 * A shop that has used Postroad for a day and a half, set up and sent through the API: most deliveries arrive, one
 * receiver is down, one was down for a while, one is turned off, and some requests are refused. The clock of the server
 * runs from then to now.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
export const AGO_MS = 36 * HOUR_MS
const EVENTS = 320
const SECRETS = { stripe: 'whsec_northwind', shopify: 'shpss_northwind', github: 'northwind' } as const

type Project = {
  readonly world: World
  readonly chance: Chance
  readonly urls: Readonly<Record<SenderName, string>>
  /** Endpoints that refuse every request. */
  readonly closed: { readonly guarded: string; readonly off: string; readonly open: string }
  readonly destinations: Readonly<Record<'ledger' | 'fraud' | 'crm', Answer['body']>>
  readonly endpointId: string
  readonly ruleId: string
  readonly transformId: string
  readonly ingestKeyId: string
  readonly portalId: string
}

/** Fills the Default project up to this moment; `say` reports the progress. */
export async function fill(world: World, say: (line: string) => void): Promise<Scene & { stop(): Promise<void> }> {
  const receivers: Receiver[] = []
  const project = await setUp(world, receivers)
  const { chance } = project
  const from = world.clock.now()
  const until = from + AGO_MS - 2 * MINUTE_MS
  let last = ''
  for (const [index, at] of momentsOf(chance, { from, until }).entries()) {
    world.clock.set(Math.max(at, world.clock.now()))
    last = (await sendOne(project)) || last
    if (index % 12 === 0) await sendRefused(project)
    if (index === Math.floor(EVENTS / 2)) await replaySome(project)
    if (index % 80 === 79) say(`${index + 1} of ${EVENTS} events`)
  }
  const event = await showpiece(project)
  const fresh = (await world.admin('POST', 'projects', { name: 'Staging' })).body.project
  await world.admin('POST', `projects/${fresh.id}/webhooks`, { name: 'First endpoint' })
  await catchUp(world)
  assert.notEqual(last, '', 'events were filed')
  const { destinations, endpointId, ruleId, transformId, ingestKeyId, portalId } = project
  return {
    event,
    healthy: destinations.ledger,
    failing: destinations.crm,
    endpointId,
    ruleId,
    transformId,
    ingestKeyId,
    portalId,
    fresh: fresh.slug,
    automation: await automationScene({
      world,
      recordId: event.id,
      destinationId: destinations.ledger.id,
      dataset: 'payments',
    }),
    stop: async () => {
      await Promise.all(receivers.map((receiver) => receiver.stop()))
    },
  }
}

/** Moments that look random, more by day than by night, with the oldest first. */
function momentsOf(
  chance: Chance,
  { from, until }: { readonly from: number; readonly until: number },
): readonly number[] {
  const moments: number[] = []
  while (moments.length < EVENTS) {
    const at = from + chance.next() * (until - from)
    const hour = new Date(at).getUTCHours() + new Date(at).getUTCMinutes() / 60
    const busy = 0.25 + 0.75 * Math.max(0, Math.sin(((hour - 5) / 24) * 2 * Math.PI)) ** 2
    if (chance.next() < busy) moments.push(Math.floor(at))
  }
  return moments.toSorted((a, b) => a - b)
}

/** Answers 200, but 500 in `bad` of a hundred times, and 503 while it is down. */
function answers(
  chance: Chance,
  of: { readonly ms: number; readonly bad?: number; readonly isDown?: () => boolean },
): Answering {
  return () => {
    const afterMs = Math.round(of.ms * (0.7 + chance.next() * 0.9))
    if (of.isDown?.() === true) return { status: 503, body: '{"error":"upstream unavailable"}', afterMs }
    if (chance.upTo(100) < (of.bad ?? 0)) return { status: 500, body: '{"error":"deadlock detected"}', afterMs }
    return { status: 200, body: '{"received":true}', afterMs }
  }
}

async function setUp(world: World, receivers: Receiver[]): Promise<Project> {
  const chance = new Chance(20_261_123)
  await setUpPeople(world)
  const startedAt = world.clock.now()
  const isBetween = (fromHour: number, toHour: number) => (): boolean => {
    const hours = (world.clock.now() - startedAt) / HOUR_MS
    return hours >= fromHour && hours < toHour
  }
  const receiver = async (answering: Answering): Promise<string> => {
    const made = await aReceiver(answering, (ms) => world.clock.advance(ms))
    receivers.push(made)
    return made.url
  }
  const first = (await world.admin('GET', 'webhooks')).body.webhooks[0]
  const hook = (from: keyof typeof SCHEMES, members: object): Promise<Answer['body']> =>
    aWebhook(world, { verification: { scheme: SCHEMES[from], secret: SECRETS[from] }, ...members })
  const stripe = await hook('stripe', {
    name: 'Stripe',
    dataset: 'payments',
    event_title: { path: 'type' },
    idempotency: { path: 'id' },
  })
  const shopify = await hook('shopify', {
    name: 'Shopify',
    dataset: 'orders',
    event_title: { header: 'X-Shopify-Topic' },
  })
  const github = await hook('github', {
    name: 'GitHub',
    dataset: 'repositories',
    event_title: { header: 'X-GitHub-Event' },
  })
  await aWebhook(world, {
    name: 'Linear',
    verification: { scheme: 'hmac', header: 'Linear-Signature', without_secret: true },
  })
  const guarded = await aWebhook(world, { name: 'Partner feed', ip_allowlist: ['203.0.113.0/24'] })
  const off = await aWebhook(world, { name: 'Old storefront', enabled: false })
  const key = await anIngestKey(world, { name: 'Checkout service' })
  await anIngestKey(world, { name: 'Batch import', require_signature: true })
  const rule = await aRule(world, {
    name: 'Large checkouts',
    dataset: 'large_orders',
    conditions: [{ path: 'total', op: 'gt', value: 1_000 }],
    mappings: [
      { target: 'customer', path: 'customer.id' },
      { target: 'amount', path: 'total' },
    ],
  })
  await aRule(world, { name: 'Checkouts', dataset: 'checkouts' })
  await aRule(world, {
    name: 'Gold customers',
    dataset: 'gold',
    conditions: [{ path: 'customer.tier', op: 'equals', value: 'gold' }],
    enabled: false,
  })
  const portal = await aPortal(world, {
    name: 'Northwind webhooks',
    event_types: ['orders'],
    branding: { name: 'Northwind', accent: '#0a7d5a' },
    frame_origins: ['https://app.northwind.example'],
  })
  for (const [customerId, name] of [
    ['acct_1042', 'Harbor Books'],
    ['acct_1077', 'Summit Cycles'],
    ['acct_1103', 'Juniper Coffee'],
  ] as const)
    await aGuest(world, { portal: portal.id, customerId, name })
  const destination = async (name: string, answering: Answering, members: object): Promise<Answer['body']> =>
    (await aDestination(world, { name, url: await receiver(answering), ...members })).destination
  const ledger = await destination('ledger-api', answers(chance, { ms: 70 }), {
    datasets: ['payments', 'large_orders'],
  })
  await destination('warehouse', answers(chance, { ms: 110, bad: 4 }), { datasets: ['orders'] })
  const fraud = await destination('fraud-check', answers(chance, { ms: 60, isDown: isBetween(26, 28) }), {
    datasets: ['payments', 'orders'],
  })
  const crm = await destination('crm', () => crmAnswer(chance, isBetween(8, 12)() || isBetween(30, 99)()), {
    datasets: ['payments', 'checkouts'],
    retry: { schedule_seconds: [0] },
  })
  await destination('build-dashboard', answers(chance, { ms: 35 }), { datasets: ['repositories'] })
  await destination('data-lake', answers(chance, { ms: 20 }), { datasets: ['orders'], enabled: false })
  await destination('large-refunds', answers(chance, { ms: 40 }), {
    datasets: ['payments'],
    conditions: [
      { path: 'type', op: 'equals', value: 'charge.refunded' },
      { path: 'data.object.amount_due', op: 'gt', value: 20_000 },
    ],
  })
  return {
    world,
    chance,
    urls: {
      stripe: stripe.public_url,
      shopify: shopify.public_url,
      github: github.public_url,
      checkout: `${world.baseUrl}/v1/ingest/${key.key}`,
    },
    closed: { guarded: guarded.public_url, off: off.public_url, open: first.public_url },
    destinations: { ledger, fraud, crm },
    endpointId: stripe.id,
    ruleId: rule.id,
    transformId: await aTransform(world),
    ingestKeyId: key.id,
    portalId: portal.id,
  }
}

const TRANSFORM = `export function transform(event) {
  const { type, data } = event.data
  console.log('type', type)
  return { body: { kind: type, amount: (data?.object?.amount ?? 0) / 100 }, headers: { 'x-kind': type } }
}
`

/** A transform with an older version. */
async function aTransform(world: World): Promise<string> {
  const first = { name: 'Payments for the CRM', code: 'export const transform = (event) => event\n' }
  const { transform } = (await world.admin('POST', 'transforms', first)).body
  await world.admin('PATCH', `transforms/${transform.id}`, { code: TRANSFORM })
  return transform.id
}

function crmAnswer(chance: Chance, isDown: boolean): ReturnType<Answering> {
  const afterMs = 90 + chance.upTo(120)
  return isDown
    ? { status: 500, body: '{"error":"too many connections for role \\"crm\\""}', afterMs }
    : { status: 202, body: '{"queued":true}', afterMs }
}

/** The members and keys of the workspace, which only a person can create. */
async function setUpPeople(world: World): Promise<void> {
  const database = behind(world)
  try {
    const owner = await theWorkspace(database)
    const headers = await signedIn(world, owner)
    for (const [line, body] of [
      ['PATCH workspace', { name: 'Northwind' }],
      ['POST invites', { email: 'grace@example.com', role: 'admin' }],
      ['POST invites', { email: 'alan@example.com', role: 'developer' }],
      ['POST api-keys', { name: 'Deploy pipeline', role: 'developer' }],
      ['POST api-keys', { name: 'Metrics', role: 'viewer' }],
      ['PATCH platform/settings', { support_contact: 'support@northwind.example' }],
    ] as const) {
      const answer = await ask(world, line, { headers, body })
      assert.ok(answer.status < 300, `${line} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    }
  } finally {
    await database.close()
  }
}

/** Sends one event as its sender does, and waits until its deliveries have settled. Returns its first record's id. */
async function sendOne({ world, chance, urls }: Project): Promise<string> {
  const now = world.clock.now()
  const from = chance.of<SenderName>(['stripe', 'stripe', 'stripe', 'shopify', 'shopify', 'github', 'checkout'])
  const { body, headers } = payloadFrom(from, chance, now)
  const signature = from === 'checkout' ? {} : signatureOf(from, SECRETS[from], { body, at: now })
  const answer = await post(urls[from], body, { headers: { ...headers, ...signature } })
  assert.ok(answer.status < 300, `${from} was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  const ids = recordIds(answer)
  await settled(world, ids)
  return ids[0] ?? ''
}

function recordIds({ body }: Answer): readonly string[] {
  const records: readonly { readonly id?: string; readonly record_id?: string }[] = body.records ?? body.routed ?? []
  return records.flatMap(({ id, record_id }) => id ?? record_id ?? [])
}

const LOOK_MS = 20
const LOOKS_MAX = 1_000

/** Waits until no delivery of these records is under way; deliveries that are held back stay. A lane that sleeps until a moment needs the clock to move. */
async function settled(world: World, ids: readonly string[]): Promise<void> {
  for (let looks = 0; ids.length > 0; looks += 1) {
    const { deliveries } = (await world.admin('GET', `deliveries?record_id=${ids.join(',')}`)).body
    const isBusy = deliveries.some(
      ({ state, held_by }: { state: string; held_by: unknown }) =>
        state === 'sending' || (state === 'pending' && held_by === null),
    )
    if (!isBusy) return
    assert.ok(looks < LOOKS_MAX, `deliveries do not settle: ${JSON.stringify(deliveries)}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    if (looks % 20 === 19) world.clock.advance(500)
  }
}

/** Sends requests that are refused, each for another cause. */
async function sendRefused({ world, chance, urls, closed }: Project): Promise<void> {
  const at = world.clock.now()
  const { body } = payloadFrom('stripe', chance, at)
  const refused = [
    () => post(urls.stripe, body),
    () => post(urls.github, body, { headers: signatureOf('github', 'another secret', { body, at }) }),
    () => post(urls.stripe, body, { headers: signatureOf('stripe', SECRETS.stripe, { body, at: at - HOUR_MS }) }),
    () => post(closed.guarded, body),
    () => post(closed.off, body),
    () => post(closed.open, body.slice(0, 120)),
  ] as const
  for (let count = 1 + chance.upTo(3); count > 0; count -= 1) {
    const answer = await (refused[chance.upTo(refused.length)] ?? refused[0])()
    assert.ok(answer.status >= 400, `a bad request was answered ${answer.status}`)
  }
}

/** A person replays some of the failures of the night. */
async function replaySome({ world, destinations }: Project): Promise<void> {
  const { id } = destinations.crm
  const filter = { destination_id: id, dataset: 'payments' }
  const started = await world.admin('POST', 'replays', { filter, rate_per_second: 50 })
  assert.equal(started.status, 200, JSON.stringify(started.body))
  await eventually('the replay is done', async () => {
    world.clock.advance(500)
    const [replay] = (await world.admin('GET', 'replays')).body.replays
    return replay === undefined || replay.state === 'done' ? true : undefined
  })
}

/** The event in most pictures: some destinations got it, one holds it back, and others did not match. */
async function showpiece(project: Project): Promise<Scene['event']> {
  const { world, chance, urls } = project
  for (;;) {
    world.clock.advance(2_000)
    const at = world.clock.now()
    const { body } = payloadFrom('stripe', chance, at)
    if (!body.includes('"type":"invoice.paid"')) continue
    const ids: string[] = []
    // Two events, for the picture of a comparison.
    for (const text of [
      body,
      body.replace(/evt_1\w+/, `evt_1${chance.code(16)}`).replace(/"channel":"[\w-]+"/, '"channel":"partner"'),
    ]) {
      world.clock.advance(7_431)
      const answer = await post(urls.stripe, text, {
        headers: signatureOf('stripe', SECRETS.stripe, { body: text, at: world.clock.now() }),
      })
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      ids.push(...recordIds(answer))
      await settled(world, recordIds(answer))
    }
    return { id: ids.at(-1) ?? '', title: 'invoice.paid' }
  }
}

/**
 * Moves the clock in small steps up to now, so that the loops write the counts and the refusals. The writer of the
 * counts pauses in proportion to the time that it took, which is long by a clock that moves by minutes. So a new writer
 * counts.
 */
async function catchUp(world: World): Promise<void> {
  const { deps } = world.app
  await eventually('the counts reach the present', async () => {
    await createRollUp(deps)()
    const { closed_until } = (await world.admin('GET', 'dashboard/summary')).body.summary
    return closed_until !== null && Date.parse(closed_until) > world.clock.now() - 5 * MINUTE_MS ? true : undefined
  })
  await eventually('the clock reaches the present', async () => {
    world.clock.advance(1_000)
    await new Promise((resolve) => setImmediate(resolve))
    return world.clock.now() >= Date.now() ? true : undefined
  })
  world.clock.set(Date.now())
}
