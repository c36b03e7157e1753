import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aName } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
onWorldStage((made) => {
  world = made.world
})

const CONDITIONS = [{ path: 'a', op: 'contains', value: 'x'.repeat(400_000) }]
const COUNT = 6
/** Rooms whose items can be large, and the least that one of them needs. */
const ROOMS: Readonly<Record<string, { readonly path: string; readonly body: object }>> = {
  rules: { path: 'rules', body: { dataset: 'd', conditions: CONDITIONS } },
  webhooks: { path: 'webhooks', body: { criteria: CONDITIONS } },
  destinations: { path: 'destinations', body: { url: 'https://example.com/', conditions: CONDITIONS } },
  ws_triggers: { path: 'ws-triggers', body: { url: 'wss://example.com/', dataset: 'd', conditions: CONDITIONS } },
}

for (const [member, { path, body }] of Object.entries(ROOMS))
  test(`a page of large ${path} ends after 1 MiB, and the pages together have each item once`, async () => {
    for (let count = 0; count < COUNT; count += 1) {
      const made = await world.admin('POST', path, { name: aName('large'), ...body })
      assert.equal(made.status, 201, JSON.stringify(made.body).slice(0, 300))
    }
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { body: Record<string, unknown> } = await world.admin(
        'GET',
        `${path}?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      pages.push((page.body[member] as { id: string }[]).map(({ id }) => id))
      cursor = page.body['next_cursor'] as string | null
    }
    const ids = pages.flat()
    assert.equal(pages[0]?.length, 3)
    assert.ok(ids.length >= COUNT)
    assert.deepEqual([...new Set(ids)].toSorted().toReversed(), ids)
  })
