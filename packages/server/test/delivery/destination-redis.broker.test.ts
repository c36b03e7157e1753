import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '@redis/client'
import { aRedis, redisServer } from '../../chaos/brokers/redis.ts'
import { advanceTo, aRoute } from '../stage/delivery-routes.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Redis destinations, with a real server. */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

type Login = { readonly username: string; readonly password: string }
const redis = redisServer()

test(
  'an entry that was refused is sent again, although repeats are dropped',
  { skip: redis === undefined },
  async (t) => {
    const broker = await aRedis(redis ?? '')
    t.after(() => broker.stop())
    const { url, config, auth } = broker.members as typeof broker.members & { readonly auth: Login }
    const client = createClient({ url, ...auth, RESP: 2 })
    await client.connect()
    await client.set('events', 'The stream is another kind of key.')
    const to = await aRoute(world, url, { ...broker.members, config: { ...config, dedupe_seconds: 3_600 } })
    const record = await to.send()
    const { attempts } = await to.in(record, 'retrying')
    assert.equal(attempts[0].error_code, 'refused', attempts[0].error_detail)
    await client.del('events')
    client.destroy()
    advanceTo(world, await to.in(record, 'retrying'))
    const delivered = await to.in(record, 'delivered')
    const ids = async () => (await broker.stored()).map(({ id }) => id)
    assert.deepEqual(await ids(), [record])
    await to.replay(delivered)
    assert.equal((await to.in(record, 'delivered')).attempts.length, delivered.attempts.length + 1)
    assert.deepEqual(await ids(), [record], 'a repeat of a stored entry is dropped')
  },
)
