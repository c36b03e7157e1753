/** The documentation of the product: Markdown files of the repository, and the reference that is generated from the contract. */
const ROOT = new URL('../../../../../docs/', import.meta.url)

type DocsPage = {
  readonly url: string
  readonly name: string
  /** Its Markdown file; the reference has none. */
  readonly file?: URL
}

const guide = (word: string, name: string, folder = 'guides'): DocsPage => ({
  url: word === 'start' ? '/docs' : `/docs/${word}`,
  name,
  file: new URL(`${folder}/${word}.md`, ROOT),
})

/** In the order in which a newcomer reads them. */
export const PAGES: readonly { readonly group: string; readonly pages: readonly DocsPage[] }[] = [
  {
    group: 'Guides',
    pages: [
      guide('start', 'Start'),
      guide('verify', 'Verify senders'),
      guide('senders', 'Providers'),
      guide('sources', 'Sources without webhooks'),
      guide('route', 'Route events'),
      guide('deliver', 'Deliver events'),
      guide('destinations', 'Destinations beyond HTTP'),
      guide('workflows', 'Workflows'),
      guide('agents', 'AI agents'),
      guide('recover', 'Recover'),
      guide('undo', 'Undo a deletion'),
      guide('search', 'Search'),
      guide('code', 'A project as code'),
      guide('data', 'Read stored records'),
      guide('portals', 'Customer portals'),
      guide('programs', 'Use it from a program'),
      guide('mcp', 'Connect a coding agent'),
      guide('agents-connect', 'Connected agents'),
      guide('register', 'Agents that register themselves'),
    ],
  },
  {
    group: 'Reference',
    pages: [
      { url: '/docs/api', name: 'API' },
      guide('errors', 'Errors and remedies'),
      guide('retries', 'Retry schedule'),
      guide('delivery', 'States of a delivery', 'states'),
      guide('breaker', 'Breaker', 'states'),
    ],
  },
  {
    group: 'Operate',
    pages: [
      guide('install', 'Install', 'operate'),
      guide('run', 'Run it for real', 'operate'),
      guide('configure', 'Settings', 'operate'),
      guide('sign-in', 'Sign-in', 'operate'),
      guide('rotate-key', 'Rotate the key', 'operate'),
    ],
  },
]

/** Every page in one list. */
export const DOCS_PAGES: readonly DocsPage[] = PAGES.flatMap(({ pages }) => pages)

/** The address of the page that is built from the file with this name; undefined when there is none. */
export function urlOfFile(name: string): string | undefined {
  return PAGES.flatMap(({ pages }) => pages).find(({ file }) => file?.pathname.endsWith(`/${name}`))?.url
}
