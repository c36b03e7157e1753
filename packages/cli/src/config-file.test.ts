import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkConfig } from './config-file.ts'

test('the schema of a server that does not answer is reported as an unreachable server', async () => {
  await assert.rejects(checkConfig({ baseUrl: 'http://127.0.0.1:1' }, { file: 'postroad.json', plain: {} }), {
    reason: 'unreachable',
    message: 'http://127.0.0.1:1 cannot be reached.',
  })
})
