import type { AskerVerbs, Answered } from '../asker.ts'
import type { Stage } from '../stage.ts'
import type { Figure } from '../table.ts'
import { globalSetup, globalTeardown } from '../../test/stage/global-setup.ts'
import {
  ALL,
  enterPlaces,
  home,
  leavePlaces,
  pathOf,
  whoCalls,
  world,
  type Asked,
  type Named,
} from '../../test/stage/admin-asking.ts'
import { example } from '../../test/stage/route-examples.ts'
import { largestLimit, largestMembers } from '../../chaos/fair/largest-input.ts'

const EVENTS = 50
const MEMBERS = 20_000
const COPIES = 8
const TRIES = 3
/** The aim: the loop that acknowledges events is never occupied for longer by one request. */
const LOOP_MS_MAX = 50

type Cost = Answered & {
  readonly loopMs: number
  /** The longest time for which the loop did nothing else. */
  readonly pieceMs: number
  readonly allMs: number
  readonly sent: number
}
type Asker = (named: Named, asked: Asked) => Promise<Cost>

/** The processor time of every route of the contract, with the largest input and the largest response that its limits allow. */
export async function routes(stage: Stage): Promise<readonly Figure[]> {
  await globalSetup()
  await enterPlaces()
  const asker = stage.child<AskerVerbs>('asker.ts')
  try {
    const ask: Asker = async (named, asked) => {
      const by = asked.by ?? (await whoCalls(named, home))
      const query = new URLSearchParams(asked.query).toString()
      const body = asked.body === undefined ? undefined : JSON.stringify(asked.body)
      await asker.ask('prepare', {
        url: `${world.baseUrl}/admin/api/${pathOf(named, asked)}${query === '' ? '' : `?${query}`}`,
        method: named.route.method,
        headers: {
          ...('key' in by ? { authorization: `Bearer ${by.key}` } : by.headers),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body,
      })
      globalThis.gc?.()
      const [loop, all] = [process.threadCpuUsage(), process.cpuUsage()]
      const pieces = watchPieces()
      const answered = await asker.ask('send', undefined)
      return {
        ...answered,
        sent: body?.length ?? 0,
        pieceMs: pieces.longest(),
        loopMs: msOf(process.threadCpuUsage(loop)),
        allMs: msOf(process.cpuUsage(all)),
      }
    }
    const measured = await measureAll(stage, ask)
    stage.addTable({
      title: 'Processor time of one request',
      head: ['Route', 'Status', 'Sent', 'Response', 'Loop', 'longest piece', 'Loop and threads'],
      rows: measured.map(({ named, cost }) => [
        named.name,
        String(cost.status),
        `${cost.sent}`,
        `${cost.bytes}`,
        `${cost.loopMs.toFixed(1)} ms`,
        `${cost.pieceMs.toFixed(1)} ms`,
        `${cost.allMs.toFixed(1)} ms`,
      ]),
    })
    const [slowest] = measured
    if (slowest === undefined) return []
    return [
      {
        what: `Loop time of the slowest of ${measured.length} routes, ${slowest.named.name}`,
        unit: 'ms',
        ours: slowest.cost.loopMs,
        beside: undefined,
        aim: { most: LOOP_MS_MAX },
      },
    ]
  } finally {
    await asker.stop()
    await leavePlaces()
    await globalTeardown()
  }
}

/** Measures the processor time of each round of the loop. Work of other processes does not lengthen it. */
function watchPieces(): { longest(): number } {
  let [last, longest, stopped] = [process.threadCpuUsage(), 0, false]
  const round = (): void => {
    longest = Math.max(longest, msOf(process.threadCpuUsage(last)))
    last = process.threadCpuUsage()
    if (!stopped) setTimeout(round, 1)
  }
  setTimeout(round, 1)
  return {
    longest: () => {
      stopped = true
      return longest
    },
  }
}

const msOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000

type Measured = { readonly named: Named; readonly cost: Cost }
/** The largest resource of each room so far, and the endpoint with large events. */
type Filled = { readonly webhookId: string; readonly largestIds: Map<string, string> }
type Making = (members: Readonly<Record<string, unknown>>) => Promise<Asked>

/** Deletions come last, so that there is something to read before. */
const ORDER = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE']

async function measureAll(stage: Stage, ask: Asker): Promise<readonly Measured[]> {
  const filled: Filled = { webhookId: await fill(), largestIds: new Map() }
  const sorted = ALL.toSorted((a, b) => ORDER.indexOf(a.route.method) - ORDER.indexOf(b.route.method))
  const measured: Measured[] = []
  for (const named of sorted) {
    stage.say(`  ${named.name} …`)
    // oxlint-disable-next-line no-await-in-loop -- one route after the other
    measured.push({ named, cost: await leastOf(named, { ask, filled }) })
  }
  return measured.toSorted((a, b) => b.cost.loopMs - a.cost.loopMs)
}

/** The least of a few costs: the first call compiles its code, and a busy machine lengthens each. */
async function leastOf(named: Named, { ask, filled }: { readonly ask: Asker; readonly filled: Filled }): Promise<Cost> {
  const make = makingOf(named, filled)
  const members = await acceptedMembers({ named, ask, make })
  const isCreate = named.name.endsWith('.create')
  const costs: Cost[] = []
  for (let times = 0; times < (isCreate ? COPIES : TRIES); times += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one request at a time
    const cost = await ask(named, await make(members))
    costs.push(cost)
    const id = /"id":"([^"]+)"/.exec(cost.start)?.[1]
    if (isCreate && cost.status === 201 && id !== undefined) filled.largestIds.set(roomOf(named), id)
  }
  const [least] = costs.toSorted((a, b) => a.loopMs - b.loopMs)
  if (least === undefined) throw new Error(`${named.name} was not measured.`)
  return least
}

const roomOf = ({ name }: Named): string => name.split('.')[0] ?? ''

/** Makes the request of a route with the largest page, about the largest resource of its room. */
function makingOf(named: Named, { webhookId, largestIds }: Filled): Making {
  const limit = largestLimit(named.route)
  return async (members) => {
    const asked = await example(named, home)
    const { params, query, body } = asked
    const id = OF_FILLED.has(named.name) ? webhookId : largestIds.get(roomOf(named))
    const isOf = id !== undefined && params?.['id'] !== undefined && !HAS_OWN.has(named.name)
    const own = SEARCHES[named.name] ?? query
    return {
      ...asked,
      ...(isOf ? { params: { ...params, id } } : {}),
      ...(limit === undefined && own === undefined
        ? {}
        : { query: { ...own, ...(limit === undefined ? {} : { limit }) } }),
      ...(body === undefined ? {} : { body: { ...body, ...members } }),
    }
  }
}

/** Routes whose `id` is an endpoint with large events. */
const OF_FILLED = new Set(['records.listOfWebhook', 'webhooks.test', 'recordViews.create', 'recordViews.list'])
/** Routes whose example has a resource in a certain state. */
const HAS_OWN = new Set([
  'deliveries.cancel',
  'recordViews.get',
  'recordViews.remove',
  'recordViews.update',
  'webhooks.getVersion',
  'webhooks.refusedSamples',
  'webhooks.restoreVersion',
  'webhooks.rotateVerificationSecret',
  'webhooks.signSample',
])

/** Searches that look through everything. */
const SEARCHES: Readonly<Record<string, Record<string, string>>> = {
  'records.list': {},
  'search.deliveries': { q: 'absent' },
  'search.events': { q: 'absent' },
  'search.submissions': { q: 'absent' },
}

type Trying = { readonly named: Named; readonly ask: Asker; readonly make: Making }

/** The largest members that the route accepts, each tried with those before it. A text of the example stays. */
async function acceptedMembers({ named, ask, make }: Trying): Promise<Readonly<Record<string, unknown>>> {
  const accepted: Record<string, unknown> = {}
  const { body = {} } = await make({})
  for (const [name, value] of largestMembers(named.route)) {
    if (name in body && typeof value !== 'object') continue
    // oxlint-disable-next-line no-await-in-loop -- each is tried with those before it
    const { status } = await ask(named, await make({ ...accepted, [name]: value }))
    if (status < 300) accepted[name] = value
  }
  return accepted
}

/** Stores events of about 1 MiB. Returns their endpoint. */
async function fill(): Promise<string> {
  const { webhook } = (await world.admin('POST', 'webhooks', { name: 'filled', dataset: 'filed' })).body
  for (let index = 0; index < EVENTS; index += 1) {
    const members = Array.from(
      { length: MEMBERS },
      (_, at) => `"k${at}":"${'x'.repeat(30)}${(at * 7 + index) % 1_000}"`,
    )
    // oxlint-disable-next-line house/no-ambient -- a client of the server
    const response = await fetch(webhook.public_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"n":${index},"o":{${members.join(',')}}}`,
    })
    if (response.status !== 201) throw new Error(`An event was answered with ${response.status}.`)
  }
  return webhook.id
}
