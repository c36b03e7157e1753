import assert from 'node:assert/strict'
import { SERVICE_VERSION } from '@postroad/contract'
import * as fc from 'fast-check'
import { z } from 'zod'
import { call, database, world } from './admin-asking.ts'
import { post, signedIn } from './fixtures.ts'
import { inlined } from './openapi-document.ts'
import { aWorkspace, type Headers, type Member } from './people.ts'

/**
 * Requests made at random from /openapi.json, most of them nearly valid: whatever the test sends, no answer is a 5xx,
 * and every answer agrees with the document. The seed is fixed, so that a failure is the same everywhere; FUZZ_RUNS and
 * FUZZ_SEED extend the search.
 */
const SEED = Number(process.env['FUZZ_SEED'] ?? 4_680)

type Schema = z.core.JSONSchema.JSONSchema
type Parameter = { readonly name: string; readonly in: string; readonly schema: Schema }
type Operation = {
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content: Readonly<
          Record<string, { readonly schema: Schema; readonly examples?: Readonly<Record<string, unknown>> }>
        >
      }
    >
  >
}
type Named = { readonly method: string; readonly path: string; readonly operation: Operation }

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: object
}

let document: Document
/** The operations of the document by id. Streams do not end. PUT sso/{id} answers 501 to everything. */
let operations: ReadonlyMap<string, Named>
/** The owner of a workspace that random requests may change and break, and the resources in it. */
let member: Member
let owner: Headers
let real: ReadonlyMap<string, string>

let prepared: Promise<void> | undefined

/** Prepares a workspace for random requests on the server of the admin stage. */
export function prepareFuzz(): Promise<void> {
  prepared ??= prepare()
  return prepared
}

async function prepare(): Promise<void> {
  member = await aWorkspace(world, database, 'fuzz')
  owner = await signedIn(world, member, database)
  real = await realIds()
  document = (await (await fetch(`${world.baseUrl}/openapi.json`)).json()) as Document
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  operations = new Map(
    all
      .filter(({ path }) => path.startsWith('/admin/api/') && !path.endsWith('/stream'))
      .filter(({ operation }) => operation.operationId !== 'sso.replace')
      .map((one) => [one.operation.operationId, one]),
  )
}

export const operationIds = (): readonly string[] => [...operations.keys()]

/** One existing resource of each kind, by the prefix of its id. */
async function realIds(): Promise<ReadonlyMap<string, string>> {
  const made = async (path: string, body: object) => {
    const answer = await call({ headers: owner }, `POST ${path}`, { body: { name: path, ...body } })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  const { webhook } = await made('webhooks', { verification: { scheme: 'hmac', secret: 'whispered' } })
  const { view } = await made(`webhooks/${webhook.id}/views`, { columns: [{ key: 'a' }] })
  const { rule } = await made('rules', { dataset: 'd' })
  const { destination } = await made('destinations', { url: 'http://127.0.0.1:9/' })
  const { ingest_key, key } = await made('ingest-keys', { require_signature: false })
  const { dataset } = await made('datasets', { name: 'described' })
  const { body: submission } = await post(`${world.baseUrl}/v1/ingest/${key}/d`, '{"a":{"b":[1,"x",null]}}')
  const [delivery] = (await call({ headers: owner }, 'GET deliveries')).body.deliveries
  const { project } = await made('projects', {})
  const { api_key } = await made('api-keys', { role: 'viewer' })
  const ids: string[] = [
    webhook.id,
    view.id,
    rule.id,
    destination.id,
    ingest_key.id,
    dataset.id,
    submission.id,
    submission.records[0].id,
    delivery.id,
    project.id,
    api_key.id,
  ]
  return new Map(ids.map((id) => [id.slice(0, 4), id]))
}

// Values for a schema

const ODD: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '💥',
    "'; --",
    '%00',
    '../..',
    -1,
    0,
    1.5,
    1e21,
    2 ** 53,
    Number.MAX_VALUE,
    [],
    {},
    [[[[]]]],
    'x'.repeat(5_000),
    '9'.repeat(400),
    'NaN',
    '2026-13-45T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '0001-01-01T00:00:00Z',
  ),
  // Like fc.string with the unit 'binary', which would first make a map of all code points: that takes seconds.
  fc.array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 20 }).map((points) => String.fromCodePoint(...points)),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant(Object.fromEntries([['constructor', { prototype: 1 }]])),
  fc.constant(JSON.parse('{"__proto__":{"admin":true}}')),
)

/** Usually a value that the schema accepts; now and then another value in its place. */
function valueFor(schema: Schema | boolean, depth = 0): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 19, arbitrary: rightFor(schema, depth) }, { weight: 1, arbitrary: ODD })
}

function rightFor(schema: Schema | boolean, depth: number): fc.Arbitrary<unknown> {
  if (typeof schema === 'boolean') return fc.jsonValue({ maxDepth: 1 })
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const options = schema.anyOf ?? schema.oneOf
  if (options !== undefined) return fc.oneof(...options.map((one) => valueFor(one, depth + 1)))
  // A member that can be null has both types.
  const types = [schema.type].flat()
  return fc.oneof(...types.map((type) => (BY_TYPE[String(type)] ?? anyJson)(schema, depth)))
}

const integerFor = ({ minimum, maximum }: Schema): fc.Arbitrary<unknown> =>
  fc.integer({ min: Math.max(minimum ?? -10, -(2 ** 31)), max: Math.min(maximum ?? 1_000, 2 ** 31 - 1) })
const anyJson = (): fc.Arbitrary<unknown> => fc.jsonValue({ maxDepth: 2 })

const BY_TYPE: Readonly<Record<string, (schema: Schema, depth: number) => fc.Arbitrary<unknown>>> = {
  string: textFor,
  integer: integerFor,
  number: integerFor,
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  object: objectFor,
  array: ({ items }, depth) =>
    fc.array(valueFor((items as Schema | boolean | undefined) ?? true, depth + 1), { maxLength: depth > 3 ? 0 : 3 }),
}

function objectFor(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const entries = Object.entries(schema.properties ?? {}).map(
    ([name, one]) => [name, valueFor(one as Schema, depth + 1)] as const,
  )
  const known = fc.record(Object.fromEntries(entries), { requiredKeys: schema.required ?? [] })
  if (typeof schema.additionalProperties !== 'object' || depth > 3) return known
  return fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), valueFor(schema.additionalProperties, depth + 1), {
    maxKeys: 3,
  })
}

/**
 * One generator for each pattern. To make one, fast-check lists every character that a negated class excludes. That takes
 * longer than a request.
 */
const textsLike = new Map<string, fc.Arbitrary<string>>()

function textLike(pattern: string): fc.Arbitrary<string> {
  const made = textsLike.get(pattern) ?? fc.stringMatching(new RegExp(pattern))
  textsLike.set(pattern, made)
  return made
}

/** An id for a pattern exists in about half of the cases. */
function textFor({ pattern, format, maxLength }: Schema): fc.Arbitrary<string> {
  const id = /^\^([a-z]{3}_)/.exec(pattern ?? '')?.[1]
  const found = id === undefined ? undefined : real.get(id)
  if (found !== undefined)
    return fc.oneof({ weight: 3, arbitrary: fc.constant(found) }, fc.constant(`${id}${'0'.repeat(26)}`))
  if (format === 'date-time')
    return fc.constantFrom('2026-01-15T12:00:00Z', '2027-01-01T00:00:00+02:00', '9999-12-31T23:59:59Z')
  if (pattern !== undefined) return fc.oneof({ weight: 3, arbitrary: textLike(pattern) }, fc.string({ maxLength: 12 }))
  return fc.oneof(
    { weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: Math.min(maxLength ?? 20, 20) }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('a.b', 'items.0.id', 'd', 'http://127.0.0.1:9/', '127.0.0.1', ...real.values()),
    },
  )
}

// Requests

type Request = { readonly path: string; readonly body: string | undefined; readonly idempotencyKey: string | undefined }

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function requestFor({ path, method, operation }: Named): fc.Arbitrary<Request> {
  const partOf = (place: string) =>
    operation.parameters
      .filter((one) => one.in === place)
      .map(({ name, schema }) => [name, valueFor(named(name, schema))] as const)
  const schema = operation.requestBody?.content['application/json']?.schema
  const body =
    schema === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          { weight: 9, arbitrary: valueFor(schema).map((value) => JSON.stringify(value)) },
          { weight: 1, arbitrary: fc.constantFrom('', '{', '[]', 'null', '\0', '{"a":1,"a":2}') },
        )
  const key =
    method === 'POST'
      ? fc.option(
          fc.oneof({ weight: 4, arbitrary: fc.uuid() }, fc.constantFrom('again', 'with a space', 'k'.repeat(256))),
          { nil: undefined, freq: 1 },
        )
      : fc.constant(undefined)
  return fc
    .record({
      params: fc.record(Object.fromEntries(partOf('path'))),
      query: fc.record(Object.fromEntries(partOf('query')), { requiredKeys: [] }),
      body,
      idempotencyKey: key,
    })
    .map((made) => {
      const filled = path.replaceAll(
        /\{(\w+)\}/g,
        (_, name: string) =>
          encodeURIComponent(wellFormed(asText((made.params as Record<string, unknown>)[name]))).replace(
            /^\.+$/,
            'x',
          ) || 'x',
      )
      const search = new URLSearchParams(
        Object.entries(made.query as Record<string, unknown>).map(([name, value]): [string, string] => [
          name,
          wellFormed(asText(value)),
        ]),
      ).toString()
      return {
        path: search === '' ? filled : `${filled}?${search}`,
        body: made.body,
        idempotencyKey: made.idempotencyKey,
      }
    })
}

/** The pattern of a project in a path is not in the document. */
const named = (name: string, schema: Schema): Schema =>
  name === 'project_id' ? { ...schema, pattern: '^prj_' } : schema
const wellFormed = (text: string): string => text.toWellFormed()

async function check({ method, operation }: Named, { path, body, idempotencyKey }: Request): Promise<number> {
  const { status, headers, text } = await call({ headers: owner }, `${method} ${path.replace('/admin/api/', '')}`, {
    ...(body === undefined ? {} : { raw: body }),
    ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
  })
  const said = `${method} ${path} ${body ?? ''} → ${status} ${text.slice(0, 500)}`
  assert.ok(status < 500, said)
  assert.match(headers.get('request-id') ?? '', /^req_/, said)
  assert.equal(headers.get('service-version'), SERVICE_VERSION, said)
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  assert.equal(describeUndocumented(operation.responses[String(status)], { type, text }), undefined, said)
  return status
}

/** The parser of each schema, because zod takes longer to make one than the server takes to answer. */
const parsers = new WeakMap<Schema, z.ZodType>()

function parserFor(schema: Schema): z.ZodType {
  const made = parsers.get(schema) ?? z.fromJSONSchema(schema)
  parsers.set(schema, made)
  return made
}

/** A refusal has a status and a reason that the operation documents; a download must only have the right type. */
function describeUndocumented(
  response: Operation['responses'][string] | undefined,
  { type, text }: { type: string; text: string },
): string | undefined {
  if (response === undefined) return 'the status'
  const { content } = response
  if (!Object.keys(content).some((one) => one.split(';')[0] === type)) return `the type ${type}`
  const { schema = {}, examples } = content['application/json'] ?? {}
  if (type !== 'application/json') return undefined
  const body = JSON.parse(text) as { readonly reason?: string }
  if (examples !== undefined && !((body.reason ?? '') in examples)) return `the reason ${body.reason}`
  return parserFor(schema).safeParse(body).error?.message
}

/** How often each status was answered. */
export const statuses = new Map<number, number>()

/** Sends one operation this many random requests, which may not all be answered with 401. */
export async function askAtRandom(operationId: string, runs: number): Promise<void> {
  const one = inlined(operations.get(operationId) ?? assert.fail(`There is no ${operationId}.`), document)
  // A session or a password that one operation ends does not affect the next operation. The clock moves because
  // sign-ins are limited.
  world.clock.advance(2_000)
  owner = await signedIn(world, member, database)
  let letIn = 0
  const property = fc.asyncProperty(requestFor(one), async (request) => {
    const status = await check(one, request)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    letIn += Number(status !== 401)
  })
  const numRuns = Number(process.env['FUZZ_RUNS'] ?? runs)
  await fc.assert(property, { seed: SEED, numRuns, endOnFailure: true })
  assert.ok(letIn > 0, 'No request was admitted.')
}
