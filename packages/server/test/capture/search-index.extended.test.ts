import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Conditions, decodeId, queryMembers, type Condition } from '@postroad/contract'
import * as fc from 'fast-check'
import { blockOf, placesOf } from '../../src/domain/capture/search-index/block.ts'
import { probesOf } from '../../src/domain/capture/search-index/probes.ts'
import { TermReader, termsOfText, type Document } from '../../src/domain/capture/search-index/terms.ts'
import { sql, type Database, type Db } from '../../src/platform/db.ts'
import { filterText, searchItems, type PayloadFilter } from '../../src/tasks/search.ts'
import { createIndexer, findCandidates } from '../../src/resources/capture/search-index/index.ts'
import { aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The index may only rule out records that do not match: a search must never be wrongly empty. */
type Body = Answer['body']
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { ROLES: 'web' }, loops: [] },
)

const words = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    'ΟΔΟΣ',
    'οδος',
    'ὈΔΥΣΣΕΎΣ',
    'İstanbul',
    'straße',
    'Ärzte & Söhne',
    'a"b\\c',
    '😀 emoji',
    '1.50',
    '1e3',
    '-0',
    '1.5e21',
    '2026-11-26',
    '+1',
    'true',
    'null',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
)
const scalar = fc.oneof(words, fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
const { node } = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', 'id', 'a.b', 'length', '__proto__'), words), tie('node'), {
      maxKeys: 4,
    }),
  ),
}))

/** Some senders escape every character that is not ASCII, and write numbers in other notations. */
const payloadText = fc.record({ value: node, escapes: fc.boolean() }).map(({ value, escapes }) => {
  const json = JSON.stringify(value)
  return escapes
    ? json.replaceAll(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : json
})
const document: fc.Arbitrary<Document> = fc.record({
  payload: fc.oneof(
    payloadText,
    fc.constantFrom('{"n":1.50}', '{"n":15e2,"id":"x"}', '{"n":12345678901234567890}', '"text"', '[1,[2]]'),
  ),
  headers: fc.dictionary(fc.constantFrom('x-github-event', 'user-agent', 'x.y'), words, { maxKeys: 3 }),
  query: fc.option(
    fc
      .array(fc.tuple(fc.constantFrom('tenant', 'hub.mode', '__proto__', 'length'), words), {
        minLength: 1,
        maxLength: 4,
      })
      .map((pairs) =>
        new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value.toWellFormed()])).toString(),
      ),
  ),
})

type Leaf = { readonly path: string; readonly value: unknown }

function nodesOf(value: unknown, steps: readonly string[] = []): Leaf[] {
  const path = steps.map((step) => step.replaceAll(/[\\.]/g, String.raw`\$&`)).join('.')
  const here = steps.length === 0 || steps.includes('') ? [] : [{ path, value }]
  if (typeof value !== 'object' || value === null) return here
  return [...here, ...Object.entries(value).flatMap(([step, inner]) => nodesOf(inner, [...steps, step]))]
}

/** Questions about something that the document contains, so that many of them match. */
function questionsAbout({ path, value }: Leaf): Condition[] {
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  const asked = [
    { path, op: 'exists' },
    { path, op: 'equals', value: shown },
    { path, op: 'equals', value: typeof value === 'number' ? value : null },
    { path, op: 'not_equals', value: 'other' },
    { path, op: 'in', value: ['other', shown] },
    { path, op: 'contains', value: shown.slice(1, 6) },
    { path, op: 'contains', value: Array.isArray(value) && typeof value[0] === 'string' ? value[0] : shown },
    { path, op: 'gte', value: -1e9 },
    { path, op: 'regex', value: '.' },
  ]
  return asked.flatMap((one) => Conditions.safeParse([one]).data ?? [])
}

function questionsAboutQuery([name, value]: readonly [string, string | readonly string[]]): PayloadFilter[] {
  const step = name.replaceAll('.', String.raw`\.`)
  const [first = ''] = [value].flat()
  const path = typeof value === 'string' ? step : `${step}.0`
  return [
    { text: null, conditions: [], queryConditions: Conditions.parse([{ path, equals: first }]) },
    { text: null, conditions: [], queryConditions: Conditions.parse([{ path: step, op: 'exists' }]) },
    { text: first || 'x', conditions: [], textIn: ['headers'] },
  ]
}

async function isFound(stored: Document, filter: PayloadFilter): Promise<boolean> {
  const { payload, headers, query } = stored
  const items = [{ payload, headers: JSON.stringify(headers), query }]
  const done = await searchItems.run({ filter: filterText(filter), items, workLeft: Infinity })
  return done.found.length > 0
}

function isRuledOut(block: readonly Document[], filter: PayloadFilter): ReadonlySet<number> {
  const reader = new TermReader()
  const { slices, stride, bits } = blockOf(block.map((one) => reader.read(one)))
  const probes = probesOf({ headerConditions: [], queryConditions: [], ...filter })
  const rows = Buffer.concat(
    probes
      .flatMap(({ any }) => any.flat())
      .map((term) => {
        const at = ((term * slices) >>> 16) * stride
        return bits.subarray(at, at + stride)
      }),
  )
  const places = new Set(placesOf(probes, { records: block.length, stride, rows }))
  return new Set([...block.keys()].filter((place) => !places.has(place)))
}

test('the index never rules out a record that a search would find', async () => {
  let found = 0
  await fc.assert(
    fc.asyncProperty(fc.array(document, { minLength: 1, maxLength: 20 }), fc.nat(), async (block, seed) => {
      const subject = block[seed % block.length]
      assert.ok(subject !== undefined)
      const leaves = nodesOf(JSON.parse(subject.payload))
      const leaf = leaves[seed % Math.max(1, leaves.length)]
      const header = Object.entries(subject.headers)[0]
      const [member] = Object.entries(queryMembers(subject.query))
      const at = seed % Math.max(1, subject.payload.length - 5)
      const filters: PayloadFilter[] = [
        { text: subject.payload.slice(at, at + 8) || 'x', conditions: [] },
        {
          text: subject.payload.slice(at, at + 8).toUpperCase() || 'x',
          conditions: [],
          textIn: ['payload', 'headers'],
        },
        ...(leaf === undefined ? [] : questionsAbout(leaf).map((one) => ({ text: null, conditions: [one] }))),
        ...(typeof leaf?.value === 'string' && leaf.value !== '' ? [{ text: leaf.value, conditions: [] }] : []),
        ...(header === undefined
          ? []
          : [
              { text: `${header[0]}: ${String(header[1]).slice(0, 5)}`, conditions: [], textIn: ['headers'] as const },
              {
                text: null,
                conditions: [],
                headerConditions: Conditions.parse([
                  { path: header[0].replaceAll('.', String.raw`\.`), equals: header[1] },
                ]),
              },
            ]),
        ...(member === undefined ? [] : questionsAboutQuery(member)),
      ]
      for (const filter of filters) {
        const ruledOut = isRuledOut(block, filter)
        for (const [place, one] of block.entries()) {
          // oxlint-disable-next-line no-await-in-loop -- one document after the other
          if (!(await isFound(one, filter))) continue
          found += 1
          assert.ok(!ruledOut.has(place), JSON.stringify({ one, filter }))
        }
      }
    }),
    { numRuns: 300 },
  )
  assert.ok(found > 1_000, `only ${found} matches`)
})

test('a search finds a letter in upper and lower case, also where its form depends on its place in a word', async () => {
  for (const [payload, text] of [
    ['{"street":"ΟΔΟΣΑ"}', 'οδος'],
    ['{"street":"οδος"}', 'ΟΔΟΣ'],
    ['{"city":"İstanbul"}', 'STANBUL'],
  ]) {
    const stored = { payload: payload ?? '', headers: {}, query: null }
    const filter = { text: text ?? '', conditions: [] }
    // oxlint-disable-next-line no-await-in-loop -- one text after the other
    assert.ok(await isFound(stored, filter), text)
    assert.deepEqual(isRuledOut([stored], filter), new Set())
  }
})

test('the index rules out nearly all records that do not match', () => {
  const block = Array.from({ length: 2_000 }, (_none, n) => ({
    payload: JSON.stringify({
      n,
      customer: { id: `cus_${(n * 7_919) % 100_003}`, email: `person${n}@example.com` },
      paid: n % 2 === 0,
    }),
    headers: { 'user-agent': 'sender/1.0', 'x-delivery': `d-${n}` },
    query: `tenant=t${n}&kind=order`,
  }))
  const left = (filter: Partial<PayloadFilter>): number =>
    block.length - isRuledOut(block, { text: null, conditions: [], ...filter }).size
  const one = block[1_234]?.payload ?? ''
  assert.ok(left({ text: JSON.parse(one).customer.id }) < 30)
  assert.ok(left({ conditions: Conditions.parse([{ path: 'n', equals: 1_234 }]) }) < 30)
  assert.ok(
    left({ conditions: Conditions.parse([{ path: 'customer.email', op: 'contains', value: 'person1234@' }]) }) < 30,
  )
  assert.ok(left({ headerConditions: Conditions.parse([{ path: 'x-delivery', equals: 'd-77' }]) }) < 30)
  assert.ok(left({ queryConditions: Conditions.parse([{ path: 'tenant', equals: 't77' }]) }) < 30)
  assert.ok(left({ conditions: Conditions.parse([{ path: 'absent', op: 'exists' }]) }) < 60)
  assert.equal(left({ conditions: Conditions.parse([{ path: 'paid', op: 'not_equals', value: true }]) }), block.length)
})

function looksForText(wanted: Parameters<typeof probesOf>[0], text: string): boolean {
  const terms = new Set(probesOf(wanted).flatMap(({ any }) => any.flat()))
  return termsOfText(text).every((term) => terms.has(term))
}

test('the index looks for all characters of a value that begins with a digit and is no number', () => {
  const none = { text: null, conditions: [], headerConditions: [], queryConditions: [] }
  for (const text of ['8593f6e3-cbd5', '2026-11-26', '1.2.3', '+1 555 0100']) {
    const equal = Conditions.parse([{ path: 'id', equals: text }])
    assert.ok(looksForText({ ...none, conditions: equal }, text), text)
    assert.ok(looksForText({ ...none, headerConditions: equal }, text), text)
  }
  for (const text of ['1500', '-1.5', '1e+21']) {
    const equal = Conditions.parse([{ path: 'id', equals: text }])
    assert.equal(looksForText({ ...none, conditions: equal }, text), false)
    assert.ok(looksForText({ ...none, headerConditions: equal }, text), text)
  }
})

async function all(
  what: string,
  query: Record<string, string>,
): Promise<{ found: Body[]; read: number; scanned: number }> {
  const found: Body[] = []
  let [read, scanned] = [0, 0]
  let cursor: string | null = null
  do {
    const asked = new URLSearchParams({ ...query, ...(cursor === null ? {} : { cursor }) }).toString()
    // oxlint-disable-next-line no-await-in-loop -- each page follows the previous one
    const answer: Answer = await world.admin('GET', `search/${what}?${asked}`)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    found.push(...(answer.body.records ?? answer.body.deliveries))
    read += answer.body.read
    scanned += answer.body.scanned
    cursor = answer.body.next_cursor
  } while (cursor !== null)
  return { found, read, scanned }
}

const BLOCK = 16
const EVENTS = 5 * BLOCK + 3

test('a search finds the same events with the index as without it, on every page, and reads few of them', async () => {
  const webhook = await aWebhook(world, { dataset: 'Indexed' })
  const questions: Record<string, string>[] = [
    { q: 'customer 1' },
    { q: 'CUSTOMER 17' },
    { q: 'nobody has this' },
    { q: 'customer' },
    { f: 'n:equals:40' },
    { f: 'n:gte:70' },
    { f: 'tags:contains:t3' },
    { f: 'name:regex:7$' },
    { header: 'X-Kind:equals:k5' },
    { q: 'k6', in: 'headers' },
    { q: 'k6' },
    { q: 'customer 2', dataset: 'Other' },
  ]
  for (let n = 0; n < EVENTS; n += 1) {
    const body = JSON.stringify({ n, name: `Customer ${n}`, tags: [`t${n % 5}`], filler: 'x'.repeat(50) })
    const path = n % 7 === 0 ? `${webhook.public_url}/Other` : webhook.public_url
    // oxlint-disable-next-line no-await-in-loop -- in order
    assert.equal((await post(path, body, { headers: { 'x-kind': `k${n % 10}` } })).status, 201)
    world.clock.advance(1_000)
  }
  const ask = async (limit: string) =>
    Promise.all(
      questions.map(async (question) => (await all('events', { ...question, limit })).found.map(({ data }) => data.n)),
    )
  const before = await ask('200')
  world.clock.advance(61_000)
  await createIndexer(world.app.deps, BLOCK)()
  const { records } = await database.one<{ records: number }>(
    sql`select sum(records)::int as records from search_blocks`,
  )
  assert.equal(records, 5 * BLOCK)
  assert.deepEqual(await ask('200'), before)
  assert.deepEqual(await ask('2'), before)
  const rare = await all('events', { q: 'customer 17' })
  assert.deepEqual([rare.found.length, rare.scanned], [1, EVENTS])
  assert.ok(rare.read < EVENTS / 2, `it read ${rare.read}`)
  const range = { from: before[0] === undefined ? '' : new Date(world.clock.now() - 61_000 - 50_000).toISOString() }
  const inRange = await all('events', { q: 'customer', ...range })
  assert.equal(inRange.found.length, 50)

  // A record that was deleted after it was indexed is not found, and the others still are.
  const [gone] = (await all('events', { q: 'customer 17' })).found
  await database.run(sql`delete from records where id = ${decodeId('record', gone.id) ?? ''}`)
  assert.deepEqual((await all('events', { q: 'customer 17' })).found, [])
  assert.equal((await all('events', { q: 'customer' })).found.length, EVENTS - 1)
})

test('a search goes through more blocks than one piece reads, and finds the oldest event', async () => {
  const webhook = await aWebhook(world, { dataset: 'Small' })
  for (let n = 0; n < 300; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- in order
    assert.equal((await post(webhook.public_url, JSON.stringify({ small: `word${n}word` }))).status, 201)
  }
  world.clock.advance(100_000)
  await createIndexer(world.app.deps, 2)()
  for (const n of [0, 3, 43, 44, 299])
    // oxlint-disable-next-line no-await-in-loop -- one search after the other
    assert.deepEqual(
      (await all('events', { q: `word${n}word` })).found.map(({ data }) => data.small),
      [`word${n}word`],
    )
  assert.equal((await all('events', { q: 'word', limit: '50', dataset: 'Small' })).found.length, 300)
})

test('a piece of a search for many values reads few blocks, and the pieces together find the event', async () => {
  const webhook = await aWebhook(world, { dataset: 'Listed' })
  for (let n = 0; n < 60; n += 1)
    // oxlint-disable-next-line no-await-in-loop -- in order
    assert.equal((await post(webhook.public_url, JSON.stringify({ listed: `value ${n} of a list` }))).status, 201)
  world.clock.advance(100_000)
  await createIndexer(world.app.deps, 2)()
  const value = Array.from({ length: 100 }, (_none, n) => `value ${n * 1_000} of a list`)
  const probes = probesOf({
    text: null,
    conditions: Conditions.parse([{ path: 'listed', op: 'in', value }]),
    headerConditions: [],
    queryConditions: [],
  })
  const read: number[] = []
  const counting: Db = {
    ...database,
    many: async <Row extends object>(query: Parameters<Db['many']>[0]) => {
      const rows = await database.many<Row>(query)
      if (query.strings.join('').includes('search_blocks b\n     where')) read.push(rows.length)
      return rows
    },
  }
  const { project, workspace } = world.installed
  const at = {
    workspaceId: decodeId('workspace', workspace.id) ?? '',
    projectId: decodeId('project', project.id) ?? '',
    probes,
    after: null,
    limit: 500,
  }
  const ids: string[] = []
  for (let before: string | null = 'ffffffff-ffff-ffff-ffff-ffffffffffff'; before !== null;) {
    // oxlint-disable-next-line no-await-in-loop -- each piece starts where the previous one ended
    const found = await findCandidates(counting, { ...at, before })
    ids.push(...found.ids)
    before = found.reached
  }
  const [event] = (await all('events', { f: 'listed:equals:value 0 of a list' })).found
  assert.ok(ids.includes(decodeId('record', event.id) ?? ''))
  assert.ok(read.length > 1 && Math.max(...read) < 20, `it read ${read.join(', ')} blocks`)
})

test('the index covers a record only after every transaction of its time has ended, and each record once', async () => {
  const indexer = createIndexer(world.app.deps, BLOCK)
  const count = async () =>
    (await database.one<{ count: number }>(sql`select coalesce(sum(records), 0)::int as count from search_blocks`))
      .count
  const webhook = await aWebhook(world, { dataset: 'Young' })
  const had = await count()
  for (let n = 0; n < 2 * BLOCK; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- in order
    assert.equal((await post(webhook.public_url, JSON.stringify({ young: n }))).status, 201)
  }
  world.clock.advance(50_000)
  await indexer()
  const early = await count()
  world.clock.advance(50_000)
  await Promise.all([indexer(), createIndexer(world.app.deps, BLOCK)()])
  const late = await count()
  assert.ok(early - had < BLOCK, `${early - had} records were indexed too early`)
  assert.ok(late - had >= 2 * BLOCK - 3)
  const [first] = await database.many<{ ids: number; different: number }>(sql`
    select count(*)::int as ids, count(distinct i.id)::int as different
      from search_blocks b
     cross join generate_series(0, b.records - 1) as place
     cross join lateral (select encode(substring(b.ids from 1 + 16 * place for 16), 'hex') as id) i
  `)
  assert.equal(first?.ids, first?.different)
})
