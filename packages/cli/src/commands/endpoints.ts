import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { endpointText } from '../endpoint-text.ts'
import { invokedAs, withExample, withList, type ListOptions } from '../options.ts'
import { print } from '../output.ts'
import { more } from '../text/more.ts'
import { addEndpointEdits } from './endpoint-edits.ts'
import { addRotate } from './rotate.ts'

export function addEndpoints(program: Command): void {
  const endpoints = program
    .command('endpoints')
    .summary('list, create and update endpoints, rotate their URLs')
    .description('The URLs that receive webhooks.')
  const list = endpoints
    .command('list')
    .summary('list endpoints')
    .description('Lists the endpoints with their URLs, newest first.')
    .action(listEndpoints)
  withExample(withList(list), 'endpoints list')
  addEndpointEdits(endpoints)
  addRotate(endpoints)
}

async function listEndpoints({ limit, cursor, ...options }: ListOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.webhooks.list({ limit, cursor })
  print({ json: answer, ids: answer.webhooks.map(({ id }) => id), text: () => listText(answer) }, options)
}

function listText({ webhooks, next_cursor }: RouteAnswer<Routes['webhooks']['list']>): string {
  if (webhooks.length === 0) return `There are no endpoints here. Create one: ${invokedAs()} endpoints create <name>`
  return [...webhooks.map(endpointText), ...more(next_cursor)].join('\n\n')
}
