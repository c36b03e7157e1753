import { LIMITS } from '@postroad/contract/plain'
import { columnName } from './column.ts'
import { isBranch, isEmpty } from './flatten.ts'
import { isRawNumber } from '../json/json-text.ts'

const FIELD_TYPES = ['string', 'integer', 'number', 'boolean', 'null', 'object', 'array'] as const
export type FieldType = (typeof FIELD_TYPES)[number]

/** One path of the payloads of a dataset. */
export type Field = {
  /** The number of read records with each type at this path. */
  readonly types: Partial<Record<FieldType, number>>
  /** The number of read records that have it. */
  seen: number
  readonly first_seen_at: number
  last_seen_at: number
  /** The number of records read when it was last seen. */
  seen_until: number
  /** When it was found to be missing; null: it is present. */
  gone_at: number | null
}

/** Everything that was learned about the payloads of one dataset. */
export type DatasetSchema = {
  /** How many records were read. */
  read: number
  /** By path, in the order in which they were first seen. */
  readonly fields: Map<string, Field>
  /** Whether a path was left out, because there were too many or it was too long. */
  cut: boolean
}

/** A change in the payloads of a dataset. */
export type Drift = {
  readonly kind: 'field_added' | 'type_added' | 'field_gone' | 'field_back'
  readonly path: string
  /** The type that is new; null for a field that is gone or back. */
  readonly type: FieldType | null
}

/** Below this number of records nothing is a change, because everything is new. */
const BASELINE_RECORDS = 20
/** A field that nearly every record had is gone when this many records in a row lack it. */
const GONE_AFTER_RECORDS = 50
const USUAL_SHARE = 0.9

const { datasetFieldsMax, datasetFieldPathCharsMax, datasetFieldsPerRecordMax } = LIMITS

export const emptySchema = (): DatasetSchema => ({ read: 0, fields: new Map(), cut: false })

/**
 * Adds one payload. Elements of a list share the path of the list with `[]` behind it, and each path counts once for a record.
 * Returns what changed compared with the records before.
 */
export function learn(schema: DatasetSchema, { payload, at }: { payload: unknown; at: number }): readonly Drift[] {
  const drifts: Drift[] = []
  const isKnown = schema.read >= BASELINE_RECORDS
  schema.read += 1
  const found = pathsOf(payload)
  if (found.cut) schema.cut = true
  for (const [path, types] of found.paths) {
    const field = schema.fields.get(path) ?? newField(schema, path, at)
    if (field === undefined) continue
    if (isKnown && field.seen === 0) drifts.push({ kind: 'field_added', path, type: [...types][0] ?? null })
    else if (isKnown) drifts.push(...newTypes(field, path, types))
    if (field.gone_at !== null) drifts.push({ kind: 'field_back', path, type: null })
    note(field, { types, at, read: schema.read })
  }
  for (const [path, field] of schema.fields) {
    if (!goesNow(field, schema.read)) continue
    field.gone_at = at
    drifts.push({ kind: 'field_gone', path, type: null })
  }
  return drifts
}

function newField(schema: DatasetSchema, path: string, at: number): Field | undefined {
  if (schema.fields.size >= datasetFieldsMax) {
    schema.cut = true
    return undefined
  }
  const field: Field = { types: {}, seen: 0, first_seen_at: at, last_seen_at: at, seen_until: 0, gone_at: null }
  schema.fields.set(path, field)
  return field
}

/** An integer where other numbers were, or the reverse, is not a change of type. */
function newTypes(field: Field, path: string, types: ReadonlySet<FieldType>): readonly Drift[] {
  const has = (type: FieldType): boolean => field.types[type] !== undefined
  return [...types]
    .filter((type) => !has(type) && !(type === 'integer' && has('number')) && !(type === 'number' && has('integer')))
    .map((type) => ({ kind: 'type_added', path, type }))
}

function note(field: Field, { types, at, read }: { types: ReadonlySet<FieldType>; at: number; read: number }): void {
  for (const type of types) field.types[type] = (field.types[type] ?? 0) + 1
  field.seen += 1
  field.last_seen_at = at
  field.seen_until = read
  field.gone_at = null
}

function goesNow(field: Field, read: number): boolean {
  const usual = field.seen_until >= BASELINE_RECORDS && field.seen / field.seen_until >= USUAL_SHARE
  return field.gone_at === null && usual && read - field.seen_until >= GONE_AFTER_RECORDS
}

type Paths = { readonly paths: Map<string, Set<FieldType>>; left: number; cut: boolean }

function pathsOf(payload: unknown): Paths {
  const found: Paths = { paths: new Map(), left: datasetFieldsPerRecordMax, cut: false }
  if (Array.isArray(payload)) walkList(found, payload, '')
  else if (isBranch(payload)) walk(found, payload, '')
  else add(found, 'value', payload)
  return found
}

function walk(found: Paths, branch: object, prefix: string): void {
  for (const key in branch) {
    if (!Object.hasOwn(branch, key)) continue
    if (found.left <= 0) {
      found.cut = true
      return
    }
    const path = prefix === '' ? columnName(key, 'top') : `${prefix}.${columnName(key)}`
    const value: unknown = Reflect.get(branch, key)
    add(found, path, value)
    descend(found, value, path)
  }
}

function walkList(found: Paths, list: readonly unknown[], prefix: string): void {
  for (const value of list) {
    if (found.left <= 0) {
      found.cut = true
      return
    }
    add(found, `${prefix}[]`, value)
    descend(found, value, `${prefix}[]`)
  }
}

function descend(found: Paths, value: unknown, path: string): void {
  if (!isBranch(value) || isEmpty(value)) return
  if (Array.isArray(value)) walkList(found, value, path)
  else walk(found, value, path)
}

function add(found: Paths, path: string, value: unknown): void {
  found.left -= 1
  if (path.length > datasetFieldPathCharsMax) {
    found.cut = true
    return
  }
  const types = found.paths.get(path)
  if (types === undefined) found.paths.set(path, new Set([typeOf(value)]))
  else types.add(typeOf(value))
}

function typeOf(value: unknown): FieldType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isRawNumber(value)) return /^-?\d+$/.test(value.rawJSON) ? 'integer' : 'number'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  if (typeof value === 'string') return 'string'
  return typeof value === 'boolean' ? 'boolean' : 'object'
}

/** A schema as it is stored. */
export function schemaText({ read, fields, cut }: DatasetSchema): string {
  return JSON.stringify({ read, cut, fields: [...fields] })
}

export function readSchema(text: string): DatasetSchema {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `schemaText`
  const stored = JSON.parse(text) as { read: number; cut: boolean; fields: [string, Field][] }
  return { read: stored.read, cut: stored.cut, fields: new Map(stored.fields) }
}

/**
 * The columns of a table of these payloads: each path with a value that is neither an object nor in a list, in the
 * order of their first occurrence. So a new field adds a column at the end.
 */
export function columnsOf({ fields }: DatasetSchema): readonly { readonly path: string; readonly field: Field }[] {
  return [...fields]
    .filter(([path, { types }]) => !path.includes('[]') && Object.keys(types).some((type) => type !== 'object'))
    .map(([path, field]) => ({ path, field }))
}

/** The types of a field, the most frequent first. */
export function typesOf({ types }: Field): readonly { readonly type: FieldType; readonly count: number }[] {
  return FIELD_TYPES.flatMap((type) => {
    const count = types[type]
    return count === undefined ? [] : [{ type, count }]
  }).toSorted((a, b) => b.count - a.count)
}
