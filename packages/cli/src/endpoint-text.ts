import type { RouteAnswer, Routes } from '@postroad/contract'
import { endpointLight } from '@postroad/contract/lights'
import { SCHEME_NAMES } from '@postroad/contract/schemes'
import { plain } from './text/plain.ts'
import { style } from './text/style.ts'

type Endpoint = RouteAnswer<Routes['webhooks']['list']>['webhooks'][number]

/** A URL is too long for a table and useless when truncated, so it has a separate line. */
export function endpointText(endpoint: Endpoint): string {
  const { id, slug, name, dataset, verification, public_url } = endpoint
  const light = endpointLight(endpoint)
  const guard =
    verification.scheme === 'none' ? 'open to anyone' : `checks ${SCHEME_NAMES[verification.scheme]} signatures`
  const notes = [plain(name), `files into ${plain(dataset)}`, guard, ...(light.tone === 'ok' ? [] : [light.text])]
  return `${style.strong(plain(slug))}  ${id}\n${style.dim(notes.join(' · '))}\n${plain(public_url)}`
}
