import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import { portalRoutes, routes, signInRoutes } from './index.ts'
import { ProjectConfig } from './project-config.ts'

/** PostgreSQL cannot store U+0000 in text, so no text of a request may contain it. */

/** Texts that may contain it, with the reason. */
const MAY: readonly (readonly [place: RegExp, reason: string])[] = [
  [/\bcursor$|\bparams\.id$|\bsearch\.wait query\.after$/, 'it is decoded'],
  [
    /^config\.(?:\$schema|project|not_exported\[\]\.\w+)$|\.needs_secrets\[\]$|\.agent$/,
    'it is compared with names, or not read',
  ],
  [/\bquery\.(?:in|state|record_id)$|\.(?:plan|confirm|next)$/, 'it is compared, or read as a list of words'],
  [
    /\.(?:conditions|criteria|entry_conditions|mappings|steps|branches|rules|endpoints)\b.*(?:\[\]|\.)/,
    'it is JSON, and a payload may have such a key',
  ],
  [/\.path$|_path$|\{key\}$|\.(?:payload_template|output_schema|outputs)\b/, 'it is JSON'],
  [/\bquery\.(?:f|header|query|response|output)(?:\[\])?$/, 'it is compared with payloads'],
  [/\b(?:payloads_text|body\.body|signSample body\.query)$/, 'it is read and not stored'],
  [/\bheaders\{\}$/, 'the rules of header values are checked when it is stored'],
  [/(?:secret|password|token|private_key|\bauth\.value|secret_access_key|connection)$/i, 'it is sealed, as bytes'],
  [/\.(?:subscribe\[\]|message)$/, 'it is sealed, as bytes'],
]

type Leaf = { readonly at: string; readonly schema: z.ZodType }

/** Every text in this schema, with its place. */
function textsIn(schema: z.ZodType, at: string, outside: ReadonlySet<z.ZodType> = new Set()): readonly Leaf[] {
  if (outside.has(schema)) return []
  const inside = new Set([...outside, schema])
  const inner = (one: unknown, place = at): readonly Leaf[] => textsIn(one as z.ZodType, place, inside)
  const def = schema.def as unknown as Readonly<Record<string, unknown>> & { readonly type: string }
  if (def.type === 'string') return [{ at, schema }]
  if (def.type === 'pipe' && (def['in'] as z.ZodType).def.type === 'string') return [{ at, schema }]
  if (def.type === 'object')
    return Object.entries(def['shape'] as object).flatMap(([name, one]) => inner(one, `${at}.${name}`))
  const members = [def['options'], def['items']].flatMap((some) => (Array.isArray(some) ? some : []))
  const lazy = typeof def['getter'] === 'function' ? [(def['getter'] as () => unknown)()] : []
  return [
    ...[...members, ...lazy, def['left'], def['right'], def['in'], def['innerType']]
      .filter((one) => one !== undefined)
      .flatMap((one) => inner(one)),
    ...(def['element'] === undefined ? [] : inner(def['element'], `${at}[]`)),
    ...(def['keyType'] === undefined ? [] : inner(def['keyType'], `${at}{key}`)),
    ...(def['valueType'] === undefined ? [] : inner(def['valueType'], `${at}{}`)),
  ]
}

/** Texts of the forms that schemas ask for. */
const STARTS = [
  '',
  'a',
  'abc.def',
  'https://example.com/',
  'https://a',
  '/a',
  'a@example.com',
  '0 9 * * *',
  'x'.repeat(60),
]
const passes = ({ schema }: Leaf): boolean =>
  STARTS.some((start) => [`${start}\0`, `${start}\0.example.com/`].some((text) => schema.safeParse(text).success))

function leavesOf(name: string, route: object): readonly Leaf[] {
  return ['params', 'query', 'body'].flatMap((part) => {
    const schema: unknown = Reflect.get(route, part)
    return schema === undefined ? [] : textsIn(schema as z.ZodType, `${name} ${part}`)
  })
}

test('no text of a request may contain U+0000, unless it is not stored as text', () => {
  const leaves = [
    ...Object.entries(routes).flatMap(([room, verbs]) =>
      Object.entries(verbs).flatMap(([verb, route]) => leavesOf(`${room}.${verb}`, route)),
    ),
    ...[portalRoutes, signInRoutes].flatMap((all) =>
      Object.entries(all).flatMap(([name, route]) => leavesOf(name, route)),
    ),
    ...textsIn(ProjectConfig, 'config'),
  ]
  assert.ok(leaves.length > 700, `${leaves.length} texts`)
  const places = new Set(leaves.filter(passes).map(({ at }) => at))
  assert.deepEqual(
    [...places].filter((place) => !MAY.some(([pattern]) => pattern.test(place))),
    [],
  )
  const unused = MAY.filter(([pattern]) => ![...places].some((place) => pattern.test(place)))
  assert.deepEqual(unused, [], 'every exception is in use')
})
