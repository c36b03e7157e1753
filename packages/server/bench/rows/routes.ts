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

type Cost = Answered & { readonly loopMs: number; readonly allMs: number; readonly sent: number }
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
      const answered = await asker.ask('send', undefined)
      return {
        ...answered,
        sent: body?.length ?? 0,
        loopMs: msOf(process.threadCpuUsage(loop)),
        allMs: msOf(process.cpuUsage(all)),
      }
    }
    const measured = await measureAll(stage, ask)
    stage.addTable({
      title: 'Processor time of one request',
      head: ['Route', 'Status', 'Sent', 'Response', 'Loop', 'Loop and threads'],
      rows: measured.map(({ named, cost }) => [
        named.name,
        String(cost.status),
        `${cost.sent}`,
        `${cost.bytes}`,
        `${cost.loopMs.toFixed(1)} ms`,
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

const msOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000

type Measured = { readonly named: Named; readonly cost: Cost }

async function measureAll(stage: Stage, ask: Asker): Promise<readonly Measured[]> {
  const webhookId = await fill()
  const largestIds = new Map<string, string>()
  const order = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE']
  const sorted = ALL.toSorted((a, b) => order.indexOf(a.route.method) - order.indexOf(b.route.method))
  const measured: Measured[] = []
  const only = process.env['ROUTES_ONLY']
  for (const named of sorted) {
    if (only !== undefined && !new RegExp(only).test(named.name)) continue
    stage.say(`  ${named.name} …`)
    const room = named.name.split('.')[0] ?? ''
    const make = async (members: Record<string, unknown>): Promise<Asked> => {
      const asked = await example(named, home)
      const limit = largestLimit(named.route)
      const id = OF_FILLED.has(named.name) ? webhookId : largestIds.get(room)
      return {
        ...asked,
        ...(limit === undefined ? {} : { query: { ...asked.query, limit } }),
        ...(id === undefined || asked.params?.['id'] === undefined || NOT_SHARED.has(named.name)
          ? {}
          : { params: { ...asked.params, id } }),
        ...(asked.body === undefined ? {} : { body: { ...asked.body, ...members } }),
        ...(MORE[named.name] === undefined ? {} : MORE[named.name]?.(asked)),
      }
    }
    try {
      const members = await acceptedMembers({ named, ask, make })
      const costs: Cost[] = []
      for (let times = 0; times < (named.name.endsWith('.create') ? COPIES : TRIES); times += 1) {
        const cost = await ask(named, await make(members))
        costs.push(cost)
        const id = /"id":"([^"]+)"/.exec(cost.start)?.[1]
        if (named.name.endsWith('.create') && cost.status === 201 && id !== undefined) largestIds.set(room, id)
      }
      const [best] = costs.toSorted((a, b) => a.loopMs - b.loopMs)
      if (best !== undefined) measured.push({ named, cost: best })
      if (best !== undefined && best.status >= 400) stage.say(`    ${best.status} ${best.start}`)
      if (best !== undefined && best.loopMs > 20)
        stage.say(`    ${best.loopMs.toFixed(1)} ms ${best.allMs.toFixed(1)} ms ${best.bytes}`)
    } catch (error) {
      stage.say(`    ${String(error)}`)
    }
  }
  return measured.toSorted((a, b) => b.cost.loopMs - a.cost.loopMs)
}

/** Routes whose `id` is an endpoint with large events. */
const OF_FILLED = new Set(['records.listOfWebhook', 'webhooks.test', 'recordViews.create', 'recordViews.list'])
/** Routes whose example needs its own resource. */
const NOT_SHARED = new Set<string>([
  'recordViews.get',
  'recordViews.update',
  'recordViews.remove',
  'webhooks.getVersion',
  'webhooks.restoreVersion',
  'webhooks.rotateVerificationSecret',
  'webhooks.signSample',
  'webhooks.refusedSamples',
  'deliveries.cancel',
])

const MORE: Readonly<Record<string, (asked: Asked) => Partial<Asked>>> = {
  'search.events': () => ({ query: { q: 'absent', limit: '200' } }),
  'search.submissions': () => ({ query: { q: 'x', limit: '200' } }),
  'search.deliveries': () => ({ query: { q: 'x', limit: '200' } }),
  'records.list': () => ({ query: { limit: '200' } }),
}

type Trying = {
  readonly named: Named
  readonly ask: Asker
  readonly make: (members: Record<string, unknown>) => Promise<Asked>
}

/** The largest members that the route accepts, each tried with those before it. */
async function acceptedMembers({ named, ask, make }: Trying): Promise<Record<string, unknown>> {
  const accepted: Record<string, unknown> = {}
  const plain = await make({})
  const candidates = [...largestMembers(named.route)].filter(
    ([name]) =>
      !(name in (plain.body ?? {})) ||
      Array.isArray(largestMembers(named.route).get(name)) ||
      typeof largestMembers(named.route).get(name) === 'object',
  )
  for (const [name, value] of candidates) {
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
