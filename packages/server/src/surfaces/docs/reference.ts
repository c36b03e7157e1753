import { shellWord } from '@postroad/contract/quoting'
import { html, type Html } from '../html.ts'
import { framed } from '../page.ts'
import { schemaHtml, typeText } from './schema-html.ts'

/** What the page reads of an OpenAPI document. */
export type ApiDocument = {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
}

type Content = Readonly<Record<string, { readonly schema: unknown }>>

export type ApiOperation = {
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
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

type Placed = { readonly url: string; readonly method: string; readonly operation: ApiOperation }

/** The API as one page to read: every route by its room, with what it takes and gives, and a curl to copy. */
export function referencePage(document: ApiDocument): string {
  const rooms = byRoom(document)
  const base = document.servers[0]?.url ?? ''
  const header = html` <span id="place">API ${document.info.version}</span>
      <nav class="end" aria-label="Elsewhere"><a href="/openapi.json">openapi.json</a> <a href="/">Home</a></nav>`
  const main = html`    <div class="columns">
      <nav class="rooms" aria-label="Rooms">
        <label for="filter">Filter</label>
        <input id="filter" type="search" placeholder="path or words" autocomplete="off" spellcheck="false">
        <ul>${[...rooms].map(([room, placed]) => html`<li><a href="#${room}">${title(room)}</a> <span>${placed.length}</span></li>`)}</ul>
      </nav>
      <main>
        <h1>API</h1>
        <p class="lead">${document.info.description} Every refusal has <code>error</code>, one sentence that says what to do, and a <code>reason</code> for machines.</p>
        <p id="nothing" role="status" hidden>No route has these words. Clear the filter to see all of them.</p>
        ${[...rooms].map(([room, placed]) => roomHtml({ room, placed, base }))}
      </main>
    </div>
`
  return framed({ title: `API · ${document.info.title}`, style: 'reference', script: 'reference', header, main })
}

function roomHtml(of: { room: string; placed: readonly Placed[]; base: string }): Html {
  return html`<section id="${of.room}"><h2>${title(of.room)}</h2>${of.placed.map((one) => operationHtml(one, of.base))}</section>`
}

function operationHtml({ url, method, operation }: Placed, base: string): Html {
  const taken = Object.entries(operation.requestBody?.content ?? {})
  return html`<details class="operation">
    <summary><span class="method ${method}">${method}</span> <code>${url}</code> <span class="summary">${operation.summary}</span></summary>
    ${operation.description === undefined ? '' : html`<p>${operation.description}</p>`}
    ${parametersHtml(operation)}
    ${taken.length === 0 ? '' : html`<h3>Body</h3><p class="media">${taken.map(([type]) => type).join(', ')}</p>${schemaHtml(taken[0]?.[1].schema)}`}
    <h3>Answers</h3>
    ${Object.entries(operation.responses).map(([status, answer]) => answerHtml(status, answer))}
    <h3>curl</h3>
    <pre tabindex="0">${curl({ url, method, operation }, base)}</pre>
  </details>`
}

function parametersHtml({ parameters = [] }: ApiOperation): Html {
  if (parameters.length === 0) return html``
  return html`<h3>Parameters</h3>
    <ul class="members">
      ${parameters.map(
        ({ name, in: place, required, description, schema }) => html`<li>
          <code class="name">${name}</code> <span class="type">${place} · ${typeText(schema)}</span>${required === true ? html` <span class="must">required</span>` : ''}
          ${description === undefined ? '' : html`<p>${description}</p>`}
        </li>`,
      )}
    </ul>`
}

function answerHtml(status: string, { description, content = {} }: ApiOperation['responses'][string]): Html {
  const [type, first] = Object.entries(content)[0] ?? []
  if (status === 'default')
    return html`<p class="media">otherwise · ${description} <code>{"error", "reason", …}</code></p>`
  return html`<p class="media">${status}${type === undefined ? '' : ` · ${type}`} · ${description}</p>${schemaHtml(first?.schema)}`
}

function curl({ url, method, operation }: Placed, base: string): string {
  const admin = url.startsWith('/admin/api') ? ` \\\n  -H 'Authorization: Bearer hk_…'` : ''
  const body =
    operation.requestBody === undefined ? '' : ` \\\n  -H 'Content-Type: application/json' \\\n  --data-raw '{}'`
  const verb = method === 'get' || (method === 'post' && body !== '') ? '' : ` -X ${method.toUpperCase()}`
  return `curl${verb} ${shellWord(`${base}${url}`)}${admin}${body}`
}

/** In the order in which the document names the rooms; a route of the Default project stands beside its twin. */
function byRoom(document: ApiDocument): ReadonlyMap<string, readonly Placed[]> {
  const rooms = new Map<string, Placed[]>()
  for (const [url, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const room = operation.tags[0] ?? 'other'
      rooms.set(room, [...(rooms.get(room) ?? []), { url, method, operation }])
    }
  }
  return rooms
}

/** `ingestKeys` is read as "Ingest keys". */
function title(room: string): string {
  const words = room.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^api /, 'API ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
