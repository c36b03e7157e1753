import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { startSuccessor } from '../../src/commands/successor.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postroad-successor-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

test('a program that cannot start takes nothing over: the older process learns it, and still has its sockets', async () => {
  const program = join(folder, 'program.js')
  await writeFile(program, 'process.exit(3)')
  const asked: string[] = []
  const socket = { close: () => void asked.push('closed') }
  const successor = startSuccessor(
    { POSTROAD_ENTRY: program },
    {
      listeners: async () => {
        asked.push('listeners')
        return [socket]
      },
      isOwn: true,
    },
  )
  await assert.rejects(successor.listening, /ended before it served/)
  assert.deepEqual([(await successor.ended).code, asked], [3, []])
})
