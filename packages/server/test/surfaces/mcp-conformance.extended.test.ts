import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { aWorld, type World } from '../stage/harness.ts'

/**
 * The public conformance suite of the protocol. Many of its scenarios call fixtures, such as the tool test_image_content, that a server
 * has only for the suite. This server has the tools of its product, so those scenarios cannot pass. Every failure is explained here, and
 * one that is not here fails the test, as does a scenario that passes although it is here.
 */
const FIXTURE = {
  tool: 'calls a tool that exists only in servers made for the suite',
  resource: 'reads a resource that exists only in servers made for the suite',
  prompt: 'asks for a prompt that exists only in servers made for the suite',
  input: 'calls a fixture that asks the client for input; no tool of this server asks for any',
} as const
const COMPLETION = 'the server does not declare completions, and the suite asks for those of a fixture prompt'

const FIXTURES: Readonly<Record<string, string>> = {
  'completion-complete': COMPLETION,
  'tools-call-simple-text': FIXTURE.tool,
  'tools-call-image': FIXTURE.tool,
  'tools-call-audio': FIXTURE.tool,
  'tools-call-embedded-resource': FIXTURE.tool,
  'tools-call-mixed-content': FIXTURE.tool,
  'tools-call-error': FIXTURE.tool,
  'tools-call-with-progress': FIXTURE.tool,
  'json-schema-2020-12': FIXTURE.tool,
  'resources-read-text': FIXTURE.resource,
  'resources-read-binary': FIXTURE.resource,
  'resources-templates-read': FIXTURE.resource,
  'prompts-get-simple': FIXTURE.prompt,
  'prompts-get-with-args': FIXTURE.prompt,
  'prompts-get-embedded-resource': FIXTURE.prompt,
  'prompts-get-with-image': FIXTURE.prompt,
}

const EXPECTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    ...FIXTURES,
    'logging-set-level': 'the server does not declare logging, which the protocol has deprecated',
    'tools-call-with-logging': FIXTURE.tool,
    'tools-call-sampling': FIXTURE.tool,
    'tools-call-elicitation': FIXTURE.tool,
    'elicitation-sep1034-defaults': FIXTURE.tool,
    'elicitation-sep1330-enums': FIXTURE.tool,
    'resources-subscribe': 'the server does not declare subscriptions, which need a session',
    'resources-unsubscribe': 'the server does not declare subscriptions, which need a session',
  },
  '2026-07-28': {
    ...FIXTURES,
    'server-stateless':
      'four of its checks call the fixtures test_missing_capability, test_streaming_elicitation and test_logging_tool; the others pass',
    'input-required-result-basic-elicitation': FIXTURE.input,
    'input-required-result-basic-sampling': FIXTURE.input,
    'input-required-result-basic-list-roots': FIXTURE.input,
    'input-required-result-request-state': FIXTURE.input,
    'input-required-result-multiple-input-requests': FIXTURE.input,
    'input-required-result-multi-round': FIXTURE.input,
    'input-required-result-non-tool-request': FIXTURE.input,
    'input-required-result-result-type': FIXTURE.input,
    'input-required-result-tampered-state': FIXTURE.input,
    'input-required-result-capability-check': FIXTURE.input,
    'http-custom-header-server-validation': FIXTURE.tool,
  },
}

/** The checks of server-stateless that need a fixture. */
const UNTESTABLE = [
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-missing-capability-http-400',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2575-server-rejects-undeclared-capability',
]

let world: World
let door: Server
before(async () => {
  world = await aWorld({ loops: [] })
  door = await withCredential(world)
})
after(async () => {
  door.closeAllConnections()
  door.close()
  await world.stop()
})

/** The suite cannot send a credential, so this adds one to its requests. */
async function withCredential({ baseUrl, installed }: World): Promise<Server> {
  const { hostname, port } = new URL(baseUrl)
  const server = createServer((came, response) => {
    const headers = { ...came.headers, authorization: `Bearer ${installed.api_key}` }
    const sent = request({ hostname, port, path: came.url, method: came.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    sent.on('error', () => response.destroy())
    came.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string }

/** Runs the scenarios that a revision requires, and returns the failed checks by scenario. */
async function failedChecks(revision: string): Promise<Readonly<Record<string, readonly Check[]>>> {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-conformance-'))
  try {
    const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}/mcp`
    const suite = spawn(
      process.execPath,
      [
        'node_modules/@modelcontextprotocol/conformance/dist/index.js',
        'server',
        '--url',
        url,
        '--requirements',
        revision,
        '--output-dir',
        folder,
      ],
      { stdio: 'ignore' },
    )
    await once(suite, 'close')
    const results = readdirSync(folder).map((name) => {
      const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1] ?? name
      const checks = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as readonly Check[]
      return [scenario, checks] as const
    })
    assert.ok(results.length > 30, `The suite ran ${results.length} scenarios.`)
    return Object.fromEntries(
      results.map(([scenario, checks]) => [scenario, checks.filter(({ status }) => status === 'FAILURE')]),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

for (const [revision, expected] of Object.entries(EXPECTED))
  test(`the server conforms to ${revision}, except where the suite needs fixtures`, async () => {
    const failed = await failedChecks(revision)
    // Tasks are an optional extension, which the server does not declare.
    const failing = Object.keys(failed).filter((name) => failed[name]?.length !== 0 && !name.startsWith('tasks-'))
    assert.deepEqual(
      failing.toSorted(),
      Object.keys(expected).toSorted(),
      JSON.stringify(failed, null, 1).slice(0, 8_000),
    )
    if ('server-stateless' in expected)
      assert.deepEqual((failed['server-stateless'] ?? []).map(({ id }) => id).toSorted(), UNTESTABLE)
  })
