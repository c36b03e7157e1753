import { html, type Html } from '../html.ts'

type Schema = Readonly<Record<string, unknown>>
/** The named schemas of a document. */
export type Named = Readonly<Record<string, unknown>>

const DEPTH_MAX = 4

/** A JSON Schema as a nested list of its members: name, type, bounds and meaning. A named schema inside is a link to its list. */
export function schemaHtml(schema: unknown, named: Named, depth = 0): Html {
  if (depth >= DEPTH_MAX) return html``
  const choices = objectsOf(depth === 0 ? targetOf(schema, named) : schema).filter(
    (choice) => membersOf(choice).length > 0,
  )
  return html`${choices.map(
    (choice, index) => html`${index === 0 ? '' : html`<p class="type">or</p>`}
      <ul class="members">${membersOf(choice).map(([name, member, required]) => memberHtml({ name, member, required, named }, depth))}</ul>`,
  )}`
}

function memberHtml(of: { name: string; member: Schema; required: boolean; named: Named }, depth: number): Html {
  const { description } = of.member
  return html`<li>
    <code class="name">${of.name}</code> <span class="type">${typeHtml(of.member)}</span>${of.required ? html` <span class="must">required</span>` : ''}
    ${typeof description === 'string' ? html`<p>${withCode(description)}</p>` : ''}${schemaHtml(of.member, of.named, depth + 1)}
  </li>`
}

/** A description of the contract, in which backticks enclose code. */
export function withCode(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`
}

/** One line with the allowed values, with links to the named schemas in it. */
function typeHtml(schema: unknown): Html {
  const parts = typeText(schema).split(/(?<=[^\w"])(?=#)|(?=#)/)
  return html`${parts.map((part) => {
    const [, name = '', rest = ''] = /^#(\w+)(.*)$/s.exec(part) ?? []
    return name === '' ? part : html`<a href="#schema-${name}">${name}</a>${rest}`
  })}`
}

/** The same as text, `string, 1 to 200 characters or null`; a named schema has a # before its name. */
export function typeText(schema: unknown): string {
  if (!isSchema(schema)) return 'any value'
  if (typeof schema['$ref'] === 'string') return `#${nameOf(schema['$ref'])}`
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) return [...new Set(choices.map(typeText))].join(' or ')
  if ('const' in schema) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map((one) => JSON.stringify(one)).join(' | ')
  if (Array.isArray(schema['type'])) return schema['type'].map((type) => typeText({ ...schema, type })).join(' or ')
  return plainTypeText(schema)
}

function plainTypeText(schema: Schema): string {
  const { type } = schema
  if (type === 'array')
    return `list of ${typeText(schema['items'])}${bounds(schema, ['minItems', 'maxItems'], 'items')}`
  if (type === 'null') return 'null'
  const format = typeof schema['format'] === 'string' ? ` (${schema['format']})` : ''
  const kind = typeof type === 'string' ? type : 'any value'
  const otherwise = 'default' in schema ? `, default ${JSON.stringify(schema['default'])}` : ''
  return `${kind}${format}${bounds(schema, ['minLength', 'maxLength'], 'characters')}${bounds(schema, ['minimum', 'maximum'], '')}${otherwise}`
}

const nameOf = (ref: string): string => ref.split('/').at(-1) ?? ''

function targetOf(schema: unknown, named: Named): unknown {
  return isSchema(schema) && typeof schema['$ref'] === 'string' ? named[nameOf(schema['$ref'])] : schema
}

// oxlint-disable-next-line max-params -- a schema, the names of its two bounds, and what they count
function bounds(schema: Schema, [least, most]: readonly [string, string], of: string): string {
  const from = boundOf(schema[least])
  const to = boundOf(schema[most])
  const unit = of === '' ? '' : ` ${of}`
  if (from === undefined) return to === undefined ? '' : `, at most ${to}${unit}`
  return to === undefined ? `, at least ${from}${unit}` : `, ${from} to ${to}${unit}`
}

/** zod writes the limits of a safe integer where a schema sets none. */
function boundOf(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined
}

function membersOf(schema: Schema): readonly (readonly [name: string, member: Schema, required: boolean])[] {
  const { properties } = schema
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(isSchema(properties) ? properties : {}).flatMap(([name, member]) =>
    isSchema(member) ? [[name, member, required.includes(name)] as const] : [],
  )
}

/** The objects inside a schema: the items of a list, and each object among choices. */
function objectsOf(schema: unknown): readonly Schema[] {
  if (!isSchema(schema)) return []
  if (isSchema(schema['properties'])) return [schema]
  const choices = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(choices) ? choices.flatMap(objectsOf) : objectsOf(schema['items'])
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
