import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { aWorld, type World } from './harness.ts'

/** What somebody is told who asks the admin API for something odd. */
let world: World

before(async () => {
  world = await aWorld({ env: { LOG_LEVEL: 'silent' } })
})
after(() => world.stop())

describe('every answer under /admin/api says its version', () => {
  for (const path of ['me', 'nowhere', 'rules/not-an-id', 'projects/x/y/z', '%zz']) {
    test(path, async () => {
      const { headers } = await world.admin('GET', path)
      assert.equal(headers.get('service-version'), '2026-09-29')
    })
  }
})

describe('text that the store cannot hold is 400, not 500', () => {
  const text = 'a\0b'
  const CASES: readonly (readonly [string, object])[] = [
    ['webhooks', { name: text }],
    ['rules', { name: text, dataset: 'd' }],
    ['ingest-keys', { name: text }],
    ['projects', { name: text }],
    ['destinations', { name: text, url: 'http://127.0.0.1:1/' }],
    ['destinations', { name: 'x', url: `http://127.0.0.1:1/${text}` }],
    ['datasets', { name: 'described', description: text }],
  ]
  for (const [path, body] of CASES) {
    test(`POST ${path} with U+0000 in ${Object.entries(body).find(([, value]) => String(value).includes('\0'))?.[0]}`, async () => {
      const answer = await world.admin('POST', path, body)
      assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'])
      assert.match(answer.body.error, /U\+0000/)
    })
  }
})
