import { endpointLight, type RouteAnswer, type Routes } from '@postroad/contract'
import { plain } from './text/plain.ts'
import { style } from './text/style.ts'

type Endpoint = RouteAnswer<Routes['webhooks']['list']>['webhooks'][number]

/** A URL is too long for a table and useless when it is cut, so it has its own line. */
export function endpointText(endpoint: Endpoint): string {
  const { id, slug, name, dataset, verification, public_url } = endpoint
  const light = endpointLight(endpoint)
  const guard = verification.scheme === 'none' ? 'open to anyone' : `signed as ${verification.scheme}`
  const notes = [plain(name), `files into ${plain(dataset)}`, guard, ...(light.tone === 'ok' ? [] : [light.text])]
  return `${style.strong(plain(slug))}  ${id}\n${style.dim(notes.join(' · '))}\n${plain(public_url)}`
}
