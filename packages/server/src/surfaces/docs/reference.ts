import { shellWord } from '@postroad/contract/quoting'
import { html, type Html } from '../html.ts'
import { docsPage } from './frame.ts'
import { schemaHtml, typeText, withCode, type Named } from './schema-html.ts'

/** The parts of an OpenAPI document that the page reads. */
export type ApiDocument = {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
  readonly components: { readonly schemas: Named; readonly responses: Readonly<Record<string, ApiAnswer>> }
}

type Content = Readonly<
  Record<
    string,
    { readonly schema: unknown; readonly example?: unknown; readonly examples?: Readonly<Record<string, unknown>> }
  >
>
type ApiAnswer = { readonly description: string; readonly content?: Content }

export type ApiOperation = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly description?: string
    readonly schema: unknown
  }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, ApiAnswer | { readonly $ref: string }>>
}

type Placed = { readonly url: string; readonly method: string; readonly operation: ApiOperation }

/** The API as one page: every route by its room, with its input, its output, and a curl command to copy. */
export function referencePage(document: ApiDocument): string {
  const rooms = byRoom(document)
  const schemas = Object.entries(document.components.schemas)
  const nav = html`<h2>Operations</h2>
        <ul>${[...rooms].map(([room, placed]) => html`<li><a href="#${room}">${title(room)}</a> <span>${placed.length}</span></li>`)}
          <li><a href="#schemas">Schemas</a> <span>${schemas.length}</span></li></ul>`
  const main = html`<h1>API</h1>
        <p class="lead">${document.info.description} Every error response has an <code>error</code> (one sentence with the remedy) and a <code>reason</code> for programs. <a href="/openapi.json">openapi.json</a> describes the same operations for programs.</p>
        <label class="filter">Filter <input id="filter" type="search" placeholder="Path or words" autocomplete="off" spellcheck="false"></label>
        <p id="nothing" role="status" hidden>No operation contains these words. Clear the filter to see all of them.</p>
        ${[...rooms].map(([room, placed]) => roomHtml(document, { room, placed }))}
        <section id="schemas"><h2>Schemas</h2>${schemas.map(
          ([
            name,
            schema,
          ]) => html`<details class="operation" id="schema-${name}"><summary><code>${name}</code></summary>
    <p class="type">${typeText(schema)}</p>${schemaHtml(schema, document.components.schemas)}</details>`,
        )}</section>`
  return docsPage({ title: 'API', at: '/docs/api', nav, main, script: 'reference' })
}

function roomHtml(document: ApiDocument, { room, placed }: { room: string; placed: readonly Placed[] }): Html {
  const about = document.tags.find(({ name }) => name === room)?.description
  return html`<section id="${room}"><h2>${title(room)}</h2>${about === undefined ? '' : html`<p>${about}</p>`}${placed.map((one) => operationHtml(document, one))}</section>`
}

function operationHtml(document: ApiDocument, { url, method, operation }: Placed): Html {
  const { schemas } = document.components
  const taken = Object.entries(operation.requestBody?.content ?? {})
  return html`<details class="operation" id="${operation.operationId}">
    <summary><span class="method ${method}">${method}</span> <code>${url}</code> <span class="summary">${operation.summary}</span></summary>
    ${operation.description === undefined ? '' : html`<p>${withCode(operation.description)}</p>`}
    ${parametersHtml(operation)}
    ${taken.length === 0 ? '' : html`<h3>Body</h3><p class="media">${taken.map(([type]) => type).join(', ')}</p>${schemaHtml(taken[0]?.[1].schema, schemas)}`}
    <h3>Responses</h3>
    ${Object.entries(operation.responses).map(([status, answer]) => answerHtml(document, { status, answer }))}
    <h3>curl</h3>
    <pre tabindex="0">${curl({ url, method, operation }, document.servers[0]?.url ?? '')}</pre>
  </details>`
}

function parametersHtml({ parameters = [] }: ApiOperation): Html {
  if (parameters.length === 0) return html``
  return html`<h3>Parameters</h3>
    <ul class="members">
      ${parameters.map(
        ({ name, in: place, required, description, schema }) => html`<li>
          <code class="name">${name}</code> <span class="type">${place} · ${typeText(schema)}</span>${required === true ? html` <span class="must">required</span>` : ''}
          ${description === undefined ? '' : html`<p>${withCode(description)}</p>`}
        </li>`,
      )}
    </ul>`
}

/** A successful response shows its members and an example. A refusal shows its reasons, with links to the guide on errors. */
function answerHtml(
  { components }: ApiDocument,
  { status, answer }: { status: string; answer: ApiOperation['responses'][string] },
): Html {
  const { description, content = {} } = '$ref' in answer ? sharedAnswer(components, answer.$ref) : answer
  const [type, first] = Object.entries(content)[0] ?? []
  if (first?.examples !== undefined) return refusalHtml(status, Object.keys(first.examples))
  return html`<p class="media">${status}${type === undefined ? '' : ` · ${type}`} · ${description}</p>${schemaHtml(first?.schema, components.schemas)}${exampleHtml(first?.example)}`
}

function sharedAnswer({ responses }: ApiDocument['components'], ref: string): ApiAnswer {
  return responses[ref.split('/').at(-1) ?? ''] ?? { description: '' }
}

function refusalHtml(status: string, reasons: readonly string[]): Html {
  const links = reasons.map(
    (reason, index) => html`${index === 0 ? '' : ', '}<a href="/docs/errors#${reason}"><code>${reason}</code></a>`,
  )
  return html`<p class="media">${status === 'default' ? '5xx' : status} · ${links}</p>`
}

function exampleHtml(example: unknown): Html {
  if (typeof example !== 'object') return html``
  return html`<pre tabindex="0">${JSON.stringify(example, undefined, 2)}</pre>`
}

function curl({ url, method, operation }: Placed, base: string): string {
  const admin = url.startsWith('/admin/api') ? ` \\\n  -H 'Authorization: Bearer hk_…'` : ''
  const example = operation.requestBody?.content['application/json']?.example
  const body =
    operation.requestBody === undefined
      ? ''
      : ` \\\n  -H 'Content-Type: application/json' \\\n  --data-raw ${shellWord(JSON.stringify(example ?? {}))}`
  const verb = method === 'get' || (method === 'post' && body !== '') ? '' : ` -X ${method.toUpperCase()}`
  return `curl${verb} ${shellWord(`${base}${url}`)}${admin}${body}`
}

/** In the order of the rooms in the document. A route of the Default project is next to its twin. */
function byRoom(document: ApiDocument): ReadonlyMap<string, readonly Placed[]> {
  const rooms = new Map<string, Placed[]>()
  const received = Object.values(document.webhooks).map((methods) => ['the URL of your destination', methods] as const)
  for (const [url, methods] of [...Object.entries(document.paths), ...received]) {
    for (const [method, operation] of Object.entries(methods)) {
      const room = operation.tags[0] ?? 'other'
      rooms.set(room, [...(rooms.get(room) ?? []), { url, method, operation }])
    }
  }
  return rooms
}

/** `ingestKeys` becomes "Ingest keys". */
function title(room: string): string {
  const words = room.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^api /, 'API ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
