import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { afterEach, describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import {
  aDestination,
  aName,
  anIngestKey,
  aRule,
  aWebhook,
  post,
  submissionOf,
  type Posting,
} from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Hot config: a change takes effect immediately on the node that made it, and within a second on every other node.
 * Two nodes share one database. Their clocks do not move by themselves, so the poll of the second node runs only when
 * the test moves its clock.
 */
let first: World
let second: World
let tell: World['app']['deps']['wakeups']['tell']

onWorldStage(
  async (made) => {
    first = made.world
    second = await aWorld({ beside: first, env: { ROLES: 'web' } })
    made.atEnd(() => second.stop())
    const { wakeups } = first.app.deps
    tell = wakeups.tell.bind(wakeups)
  },
  { loops: ['directory.poll'] },
)
afterEach(() => {
  first.app.deps.wakeups.tell = tell
})

/** From here on the wake-ups of the first node are lost. */
function loseWakeups(): void {
  first.app.deps.wakeups.tell = () => undefined
}

type Scene = {
  /** The answer that an event gets at this node. */
  readonly probe: (node: World) => Promise<string>
  readonly was: string
  readonly change: () => Promise<unknown>
  readonly becomes: string
}

/** Posts to a URL of the first node, at another node. */
async function statusAt(node: World, url: string, posting: Posting = {}): Promise<string> {
  const { status, body } = await post(url.replace(first.baseUrl, node.baseUrl), '{"a":1}', posting)
  return status === 201
    ? `201 ${body.records.map((record: { dataset: string }) => record.dataset).join(' ')}`.trim()
    : `${status} ${body.reason}`
}

/** A separate project, so that no change of another test wakes up the second node. */
async function aProject(): Promise<World & { readonly uuid: string }> {
  const { body } = await first.admin('POST', 'projects', { name: aName('project') })
  const uuid = decodeId('project', body.project.id) ?? ''
  return {
    ...first,
    uuid,
    admin: (method, path, ...rest) => first.admin(method, `projects/${body.project.id}/${path}`, ...rest),
  }
}

async function aDisabling(): Promise<Scene> {
  const project = await aProject()
  const { id, public_url } = await aWebhook(project, { dataset: 'd' })
  return {
    probe: (node) => statusAt(node, public_url),
    was: '201 d',
    change: () => project.admin('PATCH', `webhooks/${id}`, { enabled: false }),
    becomes: '503 endpoint_disabled',
  }
}

const SCENES: Readonly<Record<string, () => Promise<Scene>>> = {
  'a webhook is disabled': aDisabling,
  'a webhook is enabled': async () => {
    const project = await aProject()
    const { id, public_url } = await aWebhook(project, { dataset: 'd', enabled: false })
    return {
      probe: (node) => statusAt(node, public_url),
      was: '503 endpoint_disabled',
      change: () => project.admin('PATCH', `webhooks/${id}`, { enabled: true }),
      becomes: '201 d',
    }
  },
  'a webhook gets criteria': async () => {
    const project = await aProject()
    const { id, public_url } = await aWebhook(project, { dataset: 'd' })
    return {
      probe: (node) => statusAt(node, public_url),
      was: '201 d',
      change: () => project.admin('PATCH', `webhooks/${id}`, { criteria: [{ path: 'a', equals: 2 }] }),
      becomes: '201',
    }
  },
  'a webhook gets another dataset': async () => {
    const project = await aProject()
    const { id, public_url } = await aWebhook(project, { dataset: 'd' })
    return {
      probe: (node) => statusAt(node, public_url),
      was: '201 d',
      change: () => project.admin('PATCH', `webhooks/${id}`, { dataset: 'other' }),
      becomes: '201 other',
    }
  },
  'a webhook is deleted': async () => {
    const project = await aProject()
    const { id, public_url } = await aWebhook(project, { dataset: 'd' })
    return {
      probe: (node) => statusAt(node, public_url),
      was: '201 d',
      change: () => project.admin('DELETE', `webhooks/${id}`),
      becomes: '404 endpoint_not_found',
    }
  },
  'verification is turned on': async () => {
    const project = await aProject()
    const { id, public_url } = await aWebhook(project, { dataset: 'd' })
    const verification = { scheme: 'hmac', secret: 'k' }
    return {
      probe: (node) => statusAt(node, public_url),
      was: '201 d',
      change: () => project.admin('PATCH', `webhooks/${id}`, { verification }),
      becomes: '401 missing_header',
    }
  },
  'a verification secret is replaced': async () => {
    const project = await aProject()
    const { id, public_url } = await aWebhook(project, {
      dataset: 'd',
      verification: { scheme: 'hmac', secret: 'old' },
    })
    const headers = { 'x-signature': createHmac('sha256', 'old').update('{"a":1}').digest('hex') }
    const verification = { scheme: 'hmac', secret: 'new' }
    return {
      probe: (node) => statusAt(node, public_url, { headers }),
      was: '201 d',
      change: () => project.admin('PATCH', `webhooks/${id}`, { verification }),
      becomes: '401 bad_signature',
    }
  },
  'a rule is made': async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    return {
      probe: (node) => statusAt(node, `${first.baseUrl}/v1/ingest/${key}`),
      was: '201',
      change: () => aRule(project, { dataset: 'd' }),
      becomes: '201 d',
    }
  },
  'a rule is disabled': async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const { id } = await aRule(project, { dataset: 'd' })
    return {
      probe: (node) => statusAt(node, `${first.baseUrl}/v1/ingest/${key}`),
      was: '201 d',
      change: () => project.admin('PATCH', `rules/${id}`, { enabled: false }),
      becomes: '201',
    }
  },
  'a rule is deleted': async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const { id } = await aRule(project, { dataset: 'd' })
    return {
      probe: (node) => statusAt(node, `${first.baseUrl}/v1/ingest/${key}`),
      was: '201 d',
      change: () => project.admin('DELETE', `rules/${id}`),
      becomes: '201',
    }
  },
  'an ingest key is revoked': async () => {
    const project = await aProject()
    const { id, key } = await anIngestKey(project)
    return {
      probe: (node) => statusAt(node, `${first.baseUrl}/v1/ingest/${key}/d`),
      was: '201 d',
      change: () => project.admin('DELETE', `ingest-keys/${id}`),
      becomes: '404 ingest_key_not_found',
    }
  },
  'an ingest key is revoked whose only requests at the second node were invalid': async () => {
    const project = await aProject()
    const { id, key } = await anIngestKey(project)
    const misuse = await aWebhook(project)
    let seen = false
    const probe = async (node: World): Promise<string> => {
      if (node === second && !seen) {
        seen = true
        await statusAt(node, misuse.public_url)
        assert.equal(
          await statusAt(node, misuse.public_url.replace(misuse.webhook_slug, key)),
          '404 endpoint_not_found',
        )
        return '201 d'
      }
      return statusAt(node, `${first.baseUrl}/v1/ingest/${key}/d`)
    }
    return {
      probe,
      was: '201 d',
      change: () => project.admin('DELETE', `ingest-keys/${id}`),
      becomes: '404 ingest_key_not_found',
    }
  },
  'a destination is made': async () => {
    const project = await aProject()
    const { public_url } = await aWebhook(project)
    const probe = async (node: World): Promise<string> => {
      const { body } = await post(public_url.replace(first.baseUrl, node.baseUrl), '{}')
      return (await submissionOf(project, body.id)).decision.destinations
        .map((one: { reason: string }) => one.reason)
        .join(' ')
    }
    return {
      probe,
      was: '',
      change: () => aDestination(project, { url: 'http://127.0.0.1:1/', enabled: false }),
      becomes: 'destination_disabled',
    }
  },
  'a project is deleted': async () => {
    const { body } = await first.admin('POST', 'projects', { name: aName('project') })
    const project: World = {
      ...first,
      admin: (method, path, ...rest) => first.admin(method, `projects/${body.project.id}/${path}`, ...rest),
    }
    const { public_url } = await aWebhook(project, { dataset: 'd' })
    return {
      probe: (node) => statusAt(node, public_url),
      was: '201 d',
      change: () => first.admin('DELETE', `projects/${body.project.id}`),
      becomes: '404 endpoint_not_found',
    }
  },
}

for (const [name, scene] of Object.entries(SCENES)) {
  describe(name, () => {
    test('the node that made the change applies it immediately, and the other is notified within a second', async () => {
      const { probe, was, change, becomes } = await scene()
      assert.deepEqual([await probe(first), await probe(second)], [was, was])
      await change()
      assert.equal(await probe(first), becomes)
      await second.quiet()
      assert.equal(await probe(second), becomes)
    })

    test('with only the poll, the other node learns of the change within a second of its clock', async () => {
      const { probe, was, change, becomes } = await scene()
      assert.deepEqual([await probe(first), await probe(second)], [was, was])
      loseWakeups()
      await change()
      assert.equal(await probe(first), becomes)
      assert.equal(await probe(second), was, 'the wake-up was lost, so nobody notified it')
      second.clock.advance(500)
      await second.quiet()
      assert.equal(await probe(second), becomes)
    })
  })
}

test('a node that was asleep for an hour and missed notifications catches up with its next poll', async () => {
  const { probe, was, change, becomes } = await aDisabling()
  assert.equal(await probe(second), was)
  loseWakeups()
  await change()
  second.clock.advance(3_600_000)
  await second.quiet()
  assert.equal(await probe(second), becomes)
  second.clock.set(first.clock.now())
})

test('the first node learns of a change that was made on the second', async () => {
  const { id, public_url } = await aWebhook(first, { dataset: 'd' })
  assert.equal(await statusAt(first, public_url), '201 d')
  await second.admin('PATCH', `webhooks/${id}`, { enabled: false })
  assert.equal(await statusAt(second, public_url), '503 endpoint_disabled')
  await first.quiet()
  assert.equal(await statusAt(first, public_url), '503 endpoint_disabled')
})

test('an endpoint that was created on one node answers on the other from its first event', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { public_url } = await aWebhook(first, { dataset: 'd' })
    assert.equal(await statusAt(second, public_url), '201 d')
  }
})

test('while settings change under load, every event is answered by the old or the new configuration', async () => {
  const { id, public_url } = await aWebhook(first, { dataset: 'd' })
  const answers: string[] = []
  const load = [first, second].map(async (node) => {
    for (let count = 0; count < 100; count += 1) answers.push(await statusAt(node, public_url))
  })
  for (let round = 0; round < 10; round += 1) await first.admin('PATCH', `webhooks/${id}`, { enabled: round % 2 === 1 })
  await Promise.all(load)
  assert.deepEqual(
    answers.filter((answer) => answer !== '201 d' && answer !== '503 endpoint_disabled'),
    [],
  )
})
