import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { closeListener } from './listening.ts'

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

test('a close that fails reports the cause, and leaves nothing that prevents the exit of the process', async () => {
  const fastify = Fastify()
  fastify.addHook('onClose', async () => {
    throw new Error('a part would not end')
  })
  await fastify.ready()
  const before = timers()
  await assert.rejects(closeListener({ server: fastify.server, router: fastify }), /a part would not end/)
  assert.equal(timers(), before)
})
