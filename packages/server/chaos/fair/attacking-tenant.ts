import { setTimeout as sleep } from 'node:timers/promises'
import { solve, type Challenge } from '../solve.ts'
import type { Attack } from './attacker.ts'
import type { Admin } from '../../bench/postroad.ts'

const EVENTS = 50
type At = { readonly port: number }
const MEMBERS = 20_000
const WAITS_MAX = 5
const JSON_TYPE = { 'content-type': 'application/json' }

/** The settings of a server at which a tenant can register itself, with requests as fast as it likes. */
export const REGISTRATION = { AGENT_WORK: '1', ADMIN_REQUESTS_MAX: '0' }

export type NamedAttack = Omit<Attack, 'port' | 'ms'> & { readonly name: string }
type Own = { readonly key: string; readonly webhook: { readonly id: string; readonly public_path: string } }
type Stored = { readonly record: string; readonly dataset: string }

/** A tenant that registered itself. */
export type Tenant = { readonly key: string; readonly admin: Admin }
export async function aTenant(server: At): Promise<Tenant> {
  const key = await registered(server)
  return { key, admin: adminWith(server, key) }
}

/** Registers a tenant that stores events of 1 MiB. Returns the requests of it that cost the server most. */
export async function attackingTenant(server: At, events = EVENTS): Promise<readonly NamedAttack[]> {
  const { key, admin } = await aTenant(server)
  const { webhook } = await admin<{ webhook: Own['webhook'] }>('POST', 'webhooks', {
    name: 'attacker',
    dataset: 'attacker',
  })
  const record = await fill(server, { path: webhook.public_path, events })
  const { datasets } = await admin<{ datasets: { id: string; name: string }[] }>('GET', 'datasets')
  const dataset = datasets.find(({ name }) => name === 'attacker')?.id ?? ''
  return [...bodies({ key, webhook }), ...reads({ key, webhook }), ...writes({ key, webhook }, { record, dataset })]
}

const bodies = ({ webhook }: Own): readonly NamedAttack[] => {
  const post = { method: 'POST', path: webhook.public_path, connections: 10 }
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': 'gzip' }
  return [
    { ...post, name: 'a form of plus signs in gzip', body: 'plus', headers: form },
    { ...post, name: 'an unclosed list', body: 'unclosed', headers: JSON_TYPE },
    {
      ...post,
      name: 'near boundaries',
      body: 'boundaries',
      headers: { 'content-type': 'multipart/form-data; boundary=B' },
    },
  ]
}

function reads({ key, webhook }: Own): readonly NamedAttack[] {
  const headers = { authorization: `Bearer ${key}` }
  const read = (path: string) => ({ method: 'GET', path: `/admin/api/${path}`, headers, body: 'none' as const })
  return [
    { ...read(`webhooks/${webhook.id}/records?limit=1000`), name: '1,000 records', connections: 2 },
    { ...read('search/events?q=absent'), name: 'a search', connections: 4 },
    { ...read('records?limit=200'), name: 'a list of records', connections: 2 },
  ]
}

function writes({ key, webhook }: Own, { record, dataset }: Stored): readonly NamedAttack[] {
  const headers = { authorization: `Bearer ${key}`, ...JSON_TYPE }
  const post = (path: string, body: object) => ({
    method: 'POST',
    path: `/admin/api/${path}`,
    headers,
    body: { text: JSON.stringify(body) },
  })
  const get = (format: string) => ({
    method: 'GET',
    path: `/admin/api/datasets/${dataset}/export/${format}`,
    headers,
    body: 'none' as const,
    connections: 2,
  })
  const template = { a: '{{data.o | default: 1}}'.repeat(400) }
  const preview = { url: 'https://example.com/', record_id: record, payload_template: template }
  const criteria = [{ path: 'o.k1', op: 'exists' }]
  return [
    { ...post(`webhooks/${webhook.id}/test`, { recent: 100, criteria }), name: 'a dry run', connections: 4 },
    { ...post('destinations/preview', preview), name: '100 previews', connections: 100 },
    { ...get('csv?columns=n,o.k1,o.k2'), name: 'export as CSV' },
    { ...get('parquet?columns=n,o.k1,o.k2'), name: 'export as Parquet' },
    { ...get('ndjson'), name: 'export as NDJSON' },
  ]
}

/** Sends the events, and returns the record of the last one. */
async function fill(
  { port }: At,
  { path, events }: { readonly path: string; readonly events: number },
): Promise<string> {
  let record = ''
  for (let index = 0; index < events; index += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one event after another, as any client
    const response = await send(port, path, { method: 'POST', headers: JSON_TYPE, body: largeEvent(index) })
    // oxlint-disable-next-line no-await-in-loop, typescript/no-unsafe-type-assertion -- an accepted event has this shape
    const { records } = (await response.json()) as { records?: readonly { id: string }[] }
    if (records?.[0] === undefined) throw new Error(`An event was answered with ${response.status}.`)
    record = records[0].id
  }
  return record
}

/** About 1 MiB with 20,000 members. */
function largeEvent(index: number): string {
  const members = Array.from({ length: MEMBERS }, (_, at) => `"k${at}":"${'x'.repeat(30)}${(at * 7 + index) % 1_000}"`)
  return `{"n":${index},"o":{${members.join(',')}}}`
}

const adminWith =
  ({ port }: At, key: string): Admin =>
  // oxlint-disable-next-line max-params -- requests as the admin API takes them
  async <Output>(method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${key}`, ...JSON_TYPE }
    const ask = () => send(port, `/admin/api/${path}`, { method, headers, body: JSON.stringify(body) })
    let response = await ask()
    // The previous attack has used up what the plan allows.
    for (let waits = 0; response.status === 429 && waits < WAITS_MAX; waits += 1) {
      // oxlint-disable-next-line no-await-in-loop -- waits as long as the response asks
      await sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000)
      // oxlint-disable-next-line no-await-in-loop -- as above
      response = await ask()
    }
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the members it reads of a 2xx answer
    return JSON.parse(text) as Output
  }

async function registered({ port }: At): Promise<string> {
  const path = '/v1/agents/register'
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server answers with this shape
  const challenge = (await (await send(port, `${path}/challenge`, {})).json()) as Challenge & { terms_version: string }
  const { parameters, signature, terms_version: acceptTerms } = challenge
  const answer = { agent_name: 'attacker', accept_terms: acceptTerms, challenge: { parameters, signature } }
  const body = JSON.stringify({ ...answer, solution: solve(challenge) })
  const response = await send(port, path, { method: 'POST', headers: JSON_TYPE, body })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  const { key } = (await response.json()) as { key?: string }
  if (key === undefined) throw new Error(`The registration was answered with ${response.status}.`)
  return key
}

// oxlint-disable-next-line max-params, house/no-ambient -- a client of the real server
const send = (port: number, path: string, init: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)
