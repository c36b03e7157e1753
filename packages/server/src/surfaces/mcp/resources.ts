import type { Entered } from '../route-calls.ts'
import { LIMITS } from '@postroad/contract'
import { cutTo } from './cut.ts'

/** A page of the documentation as it was written. */
export type DocsSource = { readonly word: string; readonly name: string; readonly markdown: string }

export type ListedResource = {
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly mimeType: string
}
type Content = { readonly uri: string; readonly mimeType: string; readonly text: string }

const DOCS = 'postroad://docs/'
const EVENTS = 'postroad://events/'

export function docsResources(docs: readonly DocsSource[]): readonly ListedResource[] {
  return docs.map(({ word, name, markdown }) => ({
    uri: `${DOCS}${word}`,
    name: word,
    title: name,
    description: firstSentence(markdown),
    mimeType: 'text/markdown',
  }))
}

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${EVENTS}{id}`,
    name: 'event',
    title: 'The story of an event',
    description: 'As the tool event_story: everything about the id of an event, a request, a delivery or an attempt.',
    mimeType: 'application/json',
  },
] as const

/** The content of a resource; undefined: there is none. Throws the Refusal of the route. */
export async function readResource(
  { entered, docs }: { readonly entered: Entered; readonly docs: readonly DocsSource[] },
  uri: string,
): Promise<Content | undefined> {
  const page = docs.find(({ word }) => uri === `${DOCS}${word}`)
  if (page !== undefined) return { uri, mimeType: 'text/markdown', text: page.markdown }
  if (!uri.startsWith(EVENTS)) return undefined
  const id = uri.slice(EVENTS.length)
  const story = await entered.call({ room: 'search', verb: 'correlate', params: { id }, query: {}, body: {} })
  const { value, missing } = cutTo(story, LIMITS.mcpAnswerTokensMax)
  return { uri, mimeType: 'application/json', text: JSON.stringify(missing.length === 0 ? value : { value, missing }) }
}

/** The first sentence of the first paragraph. */
function firstSentence(markdown: string): string {
  const paragraph = markdown
    .replaceAll(/<!--.*?-->/gs, '')
    .split(/\n\s*\n/)
    .find((part) => /^[A-Za-z`[]/.test(part.trim()))
  const text = (paragraph ?? '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
  return /^.*?[.:](?= |$)/.exec(text)?.[0] ?? text
}
