import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { withExample, withList, type ListOptions } from '../options.ts'
import { print } from '../output.ts'
import { more } from '../text/more.ts'
import { plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { addRotate } from './rotate.ts'

type Endpoint = RouteAnswer<Routes['webhooks']['list']>['webhooks'][number]

export function addEndpoints(program: Command): void {
  const endpoints = program
    .command('endpoints')
    .summary('list endpoints, give one a new URL or secret')
    .description('The URLs that receive webhooks.')
  const list = endpoints
    .command('list')
    .summary('list endpoints')
    .description('Lists the endpoints with their URLs, newest first.')
    .action(listEndpoints)
  withExample(withList(list), 'endpoints list')
  addRotate(endpoints)
}

async function listEndpoints({ limit, cursor, ...options }: ListOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.webhooks.list({ limit, cursor })
  print({ json: answer, ids: answer.webhooks.map(({ id }) => id), text: () => listText(answer) }, options)
}

/** A URL is too long for a table and useless when cut, so it has a line of its own. */
function listText({ webhooks, next_cursor }: RouteAnswer<Routes['webhooks']['list']>): string {
  if (webhooks.length === 0) return 'There are no endpoints here.'
  return [...webhooks.map(endpointText), ...more(next_cursor)].join('\n\n')
}

function endpointText(endpoint: Endpoint): string {
  const { slug, name, dataset, enabled, verification, public_url } = endpoint
  const guard = verification.scheme === 'none' ? 'open to anyone' : `signed as ${verification.scheme}`
  const notes = [plain(name), `files into ${plain(dataset)}`, guard, ...(enabled ? [] : ['switched off'])]
  return `${style.strong(plain(slug))}  ${style.dim(notes.join(' · '))}\n${plain(public_url)}`
}
