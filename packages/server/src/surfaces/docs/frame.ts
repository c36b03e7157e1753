import { html, type Html } from '../html.ts'
import { framed } from '../page.ts'
import { PAGES } from './pages.ts'

type Shown = {
  readonly title: string
  /** The address of the page, which the navigation shows as the current one. */
  readonly at: string
  /** The page's addition to the navigation. */
  readonly nav?: Html
  readonly main: Html
  /** The reference also filters its operations. */
  readonly script?: 'reference'
}

/** A page of the documentation: the navigation of all pages with the search, and the content next to it. */
export function docsPage({ title, at, nav, main, script }: Shown): string {
  const header = html` <span id="place">Docs</span>
      <nav class="end" aria-label="Elsewhere"><a href="/openapi.json">openapi.json</a> <a href="/">Console</a></nav>`
  const link = (url: string, name: string): Html =>
    html`<li><a href="${url}"${url === at ? html` aria-current="page"` : ''}>${name}</a></li>`
  const body = html`    <div class="columns">
      <nav class="rooms" aria-label="Documentation">
        <label for="search">Search</label>
        <input id="search" type="search" placeholder="Guides and operations" autocomplete="off" spellcheck="false" aria-controls="found">
        <details class="contents" open><summary>Contents</summary>
        ${PAGES.map(({ group, pages }) => html`<h2>${group}</h2><ul>${pages.map(({ url, name }) => link(url, name))}</ul>`)}
        ${nav ?? ''}
        </details>
      </nav>
      <main>
        <section id="found" aria-live="polite" hidden></section>
        <div id="page">${main}</div>
      </main>
    </div>
`
  return framed({ title: `${title} · Postroad docs`, style: 'docs', script: script ?? 'docs', header, main: body })
}
