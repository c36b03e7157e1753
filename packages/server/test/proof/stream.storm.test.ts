import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stream } from '../../chaos/scenarios/stream.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

describe('clients of the live stream that disconnect and resume', () => {
  test('each client sees every record of a server that is killed', async () => {
    assert.deepEqual(broken(await aStorm(stream, { rounds: 1, seed: SEED })), [])
  })
})
