import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes, type Route } from '@postroad/contract'
import { TOOLS } from '../../../server/src/surfaces/mcp/tools/index.ts'
import { MCP_TOOLS } from '../../src/parts/mcp-tools.ts'

test('the console offers every MCP tool that reads something, under the name that the server has for it', () => {
  const all: Readonly<Record<string, Readonly<Record<string, Route>>>> = routes
  const reading = TOOLS.filter(({ route }) => {
    const [room = '', verb = ''] = route.split('.')
    const { method } = all[room]?.[verb] ?? {}
    return method === 'GET'
  })
  assert.deepEqual(MCP_TOOLS, Object.fromEntries(reading.map(({ route, name }) => [route, name])))
})
