import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Database } from '../../src/platform/db.ts'
import { aName, anIngestKey, post } from './fixtures.ts'
import type { World } from './harness.ts'

/** Random projects with the settings that a configuration must carry to another project, and events for them. */

export type RandomProject = {
  readonly endpoints: readonly object[]
  readonly rules: readonly object[]
  readonly destinations: readonly object[]
  readonly workflows: readonly object[]
  /** They name the agent of `aPlace`. */
  readonly triggers: readonly object[]
}
export type RandomEvent = {
  readonly payload: object
  readonly way: { readonly kind: 'rules' | 'url' | 'url_dataset' | 'key' | 'dataset'; readonly slug: string }
}
export type Place = World & { readonly id: string; readonly key: string; readonly agentId: string }

const AGENT = 'Triage'
const SLUGS = ['one', 'two', 'three']
const DATASETS = ['orders', 'people', 'large']
const PATHS = ['kind', 'total', 'customer.id', 'items.0.sku', 'note']
const WORDS = ['order', 'refund', 'a-1', 'B2', '', 'order.created']

const path = fc.constantFrom(...PATHS)
const word = fc.constantFrom(...WORDS)
const number = fc.integer({ min: -5, max: 100 })

const condition = fc.oneof(
  fc.record({ path, equals: fc.oneof(word, number, fc.boolean(), fc.constant(null)) }),
  fc.record({ path, op: fc.constant('not_equals'), value: fc.oneof(word, number) }),
  fc.record({ path, op: fc.constantFrom('gt', 'gte', 'lt', 'lte'), value: number }),
  fc.record({ path, op: fc.constant('contains'), value: fc.constantFrom('r', 'order', '-') }),
  fc.record({ path, op: fc.constant('in'), value: fc.array(fc.oneof(word, number), { minLength: 1, maxLength: 4 }) }),
  fc.record({ path, op: fc.constant('regex'), value: fc.constantFrom('^o', '\\d+$', '(order|refund)', '[A-Z]') }),
  fc.record({ path, op: fc.constant('exists') }),
)
const conditions = fc.array(condition, { maxLength: 2 })

const mappings = fc.uniqueArray(
  fc.oneof(
    fc.record({ target: fc.constantFrom('a', 'b.c', 'd.0'), path }),
    fc.record({ target: fc.constantFrom('e', 'f.g'), value: fc.oneof(word, number) }),
    fc.record({
      target: fc.constantFrom('h', 'i'),
      path,
      default: word,
      transform: fc.constantFrom('string', 'uppercase'),
    }),
  ),
  { maxLength: 3, selector: ({ target }) => target },
)

const dataset = fc.constantFrom(...DATASETS)
const enabled = fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) })

/** Some of these names, each with its settings. */
const named = <Settings extends object>(names: readonly string[], settings: fc.Arbitrary<Settings>, name: string) =>
  fc
    .tuple(
      fc.subarray([...names], { minLength: 1 }),
      fc.array(settings, { minLength: names.length, maxLength: names.length }),
    )
    .map(([chosen, all]) => chosen.map((one, at) => ({ name: one, [name]: one, ...all[at] })))

const randomProject: fc.Arbitrary<RandomProject> = fc.record({
  endpoints: named(SLUGS, fc.record({ dataset, enabled, criteria: conditions, mappings }), 'slug'),
  rules: named(['r1', 'r2', 'r3', 'r4'], fc.record({ dataset, enabled, conditions, mappings }), 'name'),
  destinations: named(
    ['d1', 'd2', 'd3'],
    fc.record({
      url: fc.constantFrom('http://127.0.0.1:9/a', 'http://127.0.0.1:9/b'),
      enabled,
      datasets: fc.option(fc.subarray(DATASETS, { minLength: 1 })),
      conditions,
    }),
    'name',
  ),
  workflows: named(
    ['w1', 'w2'],
    fc.record({
      active: enabled,
      entry_dataset: dataset,
      entry_conditions: conditions,
      steps: fc.constant([{ id: 'later', type: 'delay', seconds: 60 }]),
    }),
    'name',
  ),
  triggers: named(['t1', 't2'], fc.record({ active: enabled, dataset, conditions, agent: fc.constant(AGENT) }), 'name'),
})

const randomEvent: fc.Arbitrary<RandomEvent> = fc.record({
  payload: fc.record(
    {
      kind: word,
      total: fc.oneof(number, number.map(String), fc.constant('1e3')),
      customer: fc.record({ id: fc.oneof(word, number) }),
      items: fc.array(fc.record({ sku: word }), { maxLength: 2 }),
      note: fc.oneof(word, fc.constant(null), fc.boolean()),
    },
    { requiredKeys: [] },
  ),
  way: fc.record({
    kind: fc.constantFrom('rules', 'rules', 'url', 'url_dataset', 'key', 'dataset'),
    slug: fc.constantFrom(...SLUGS),
  }),
})

export const randomProjects = (count: number, seed: number): readonly RandomProject[] =>
  fc.sample(randomProject, { numRuns: count, seed })

/** Events with their number in the payload, which identifies them later. */
export const randomEvents = (count: number, seed: number): readonly RandomEvent[] =>
  fc.sample(randomEvent, { numRuns: count, seed }).map(({ payload, way }, n) => ({ payload: { ...payload, n }, way }))

export async function aPlace(world: World): Promise<Place> {
  const { body } = await world.admin('POST', 'projects', { name: aName('random') })
  const { id } = body.project
  const admin: World['admin'] = (method, path_, ...rest) => world.admin(method, `projects/${id}/${path_}`, ...rest)
  const { key } = await anIngestKey({ ...world, admin })
  const provider = { name: 'Models', kind: 'openai_compatible', base_url: 'http://127.0.0.1:9/', default_model: 'm' }
  const provider_id = (await admin('POST', 'ai-providers', provider)).body.ai_provider.id
  const agent = { name: AGENT, provider_id, instructions: 'Sort it.' }
  return { ...world, admin, id, key, agentId: (await admin('POST', 'ai-agents', agent)).body.ai_agent.id }
}

/** Makes a project by the ordinary routes, in a random order of kinds. */
export async function make(place: Place, project: RandomProject): Promise<void> {
  for (const [room, members] of [
    ['rules', project.rules],
    ['destinations', project.destinations],
    ['webhooks', project.endpoints],
    ['workflows', project.workflows],
    ['triggers', project.triggers.map((trigger) => ({ ...trigger, agent: undefined, agent_id: place.agentId }))],
  ] as const) {
    for (const body of members) {
      const answer = await place.admin('POST', room, body)
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
    }
  }
}

/** Sends every event, and returns the statuses of the answers. */
export async function sendAll(place: Place, events: readonly RandomEvent[]): Promise<readonly number[]> {
  const { webhooks } = (await place.admin('GET', 'webhooks')).body
  const urls = new Map<string, string>(
    webhooks.map((one: { slug: string; public_url: string }) => [one.slug, one.public_url]),
  )
  const urlOf = ({ kind, slug }: RandomEvent['way']): string => {
    // A missing endpoint is answered like an unknown URL.
    const url = urls.get(slug) ?? `${place.baseUrl}/main/default/nowhere`
    if (kind === 'url') return url
    if (kind === 'url_dataset') return `${url}/named`
    if (kind === 'key') return `${place.baseUrl}/v1/webhooks/${place.key}/${slug}`
    return `${place.baseUrl}/v1/ingest/${place.key}${kind === 'dataset' ? '/direct' : ''}`
  }
  const statuses: number[] = []
  const left = [...events.entries()]
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const [at, { payload, way }] = one
      statuses[at] = (await post(urlOf(way), JSON.stringify(payload))).status
    }
  }
  await Promise.all(Array.from({ length: 8 }, next))
  return statuses
}

export type Routed = {
  readonly id: string
  readonly records: string
  readonly deliveries: string
  readonly starts: string
}

/**
 * Each event by its number: its records with their data, its deliveries by the name of their destination, and the workflows
 * and AI triggers that it started.
 */
export async function routedIn(
  database: Database,
  { projectId, after = '00000000-0000-0000-0000-000000000000' }: { projectId: string; after?: string },
): Promise<ReadonlyMap<number, Routed>> {
  const rows = await database.many<Routed & { n: number }>({
    strings: [
      `select (s.body::json ->> 'n')::int as n, s.id::text as id,
              coalesce((select string_agg(r.dataset || coalesce(r.data, '='), ' ' order by r.dataset collate "C", r.data collate "C")
                          from records r
                         where r.workspace_id = s.workspace_id and r.project_id = s.project_id and r.id = any (s.record_ids)), '') as records,
              coalesce((select string_agg(t.name || (d.state = 'paused') || r.dataset || coalesce(r.data, '='), ' '
                                          order by t.name collate "C", r.dataset collate "C", r.data collate "C")
                          from deliveries d
                          join records r on r.workspace_id = d.workspace_id and r.project_id = d.project_id and r.id = d.record_id
                          join destinations t on t.workspace_id = d.workspace_id and t.id = d.destination_id
                         where d.workspace_id = s.workspace_id and d.project_id = s.project_id and d.record_id = any (s.record_ids)), '') as deliveries,
              coalesce((select string_agg(b.name || r.dataset || coalesce(r.data, '='), ' '
                                          order by b.name collate "C", r.dataset collate "C", r.data collate "C")
                          from (select i.record_id, w.name
                                  from workflow_instances i
                                  join workflows w on w.workspace_id = i.workspace_id and w.id = i.workflow_id
                                 where i.workspace_id = s.workspace_id and i.project_id = s.project_id and i.record_id = any (s.record_ids)
                                 union all
                                select a.record_id, t.name
                                  from ai_runs a
                                  join ai_triggers t on t.workspace_id = a.workspace_id and t.id = a.trigger_id
                                 where a.workspace_id = s.workspace_id and a.project_id = s.project_id and a.record_id = any (s.record_ids)) b
                          join records r on r.workspace_id = s.workspace_id and r.project_id = s.project_id and r.id = b.record_id), '') as starts
         from submissions s
        where s.project_id = '${projectId}' and s.id > '${after}'`,
    ],
    values: [],
  })
  return new Map(rows.map(({ n, ...routed }) => [n, routed]))
}
