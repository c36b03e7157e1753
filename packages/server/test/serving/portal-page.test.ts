import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId } from '@postroad/contract'
import type { World } from '../stage/harness.ts'
import { aPortal } from '../stage/portal-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The page of a portal: who may embed it, and what it may load. */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

async function policyOf(path: string) {
  const response = await fetch(`${world.baseUrl}${path}`)
  const policy = response.headers.get('content-security-policy') ?? ''
  const directives = new Map(policy.split('; ').map((text) => [text.split(' ')[0] ?? '', text.split(' ').slice(1)]))
  return { status: response.status, headers: response.headers, directives }
}

test('only the origins of a portal, and this server, may embed its page', async () => {
  const frame_origins = ['https://app.example.com', 'https://*.example.org:8443', 'http://localhost:3000']
  const { id } = await aPortal(world, { frame_origins })
  for (const path of [`/portal/${id}`, `/portal/${id}/deliveries/dlv_1`]) {
    const { headers, directives } = await policyOf(path)
    assert.deepEqual(directives.get('frame-ancestors'), ["'self'", ...frame_origins])
    assert.deepEqual(directives.get('default-src'), ["'none'"])
    assert.ok(!directives.get('script-src')?.includes("'unsafe-inline'"))
    assert.equal(headers.get('x-frame-options'), null)
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('cache-control'), 'no-store')
  }
  const closed = await aPortal(world)
  assert.deepEqual((await policyOf(`/portal/${closed.id}`)).directives.get('frame-ancestors'), ["'self'"])
})

test('a change of the origins is in the next response', async () => {
  const { id } = await aPortal(world)
  await world.admin('PATCH', `portals/${id}`, { frame_origins: ['https://next.example.com'] })
  const { directives } = await policyOf(`/portal/${id}`)
  assert.deepEqual(directives.get('frame-ancestors'), ["'self'", 'https://next.example.com'])
})

test('the page loads images from the origins of its logos and from nowhere else', async () => {
  const branding = { logo: 'https://cdn.example.com/a/logo.svg', logo_dark: 'data:image/png;base64,iVBORw0KGgo=' }
  const { id } = await aPortal(world, { branding })
  const { directives } = await policyOf(`/portal/${id}`)
  assert.deepEqual(directives.get('img-src'), ["'self'", 'data:', 'https://cdn.example.com'])
})

test('an unknown portal answers 404, and no other page may embed it', async () => {
  for (const id of [encodeId('portal', world.app.deps.uuid()), 'prt_nonsense']) {
    const { status, directives } = await policyOf(`/portal/${id}`)
    assert.equal(status, 404)
    assert.deepEqual(directives.get('frame-ancestors'), ["'self'"])
  }
})

test('an unknown address of the portal API answers JSON instead of a page', async () => {
  for (const path of ['/portal/api/nothing', '/portal/nothing', '/portal']) {
    const response = await fetch(world.baseUrl + path)
    assert.equal(response.status, 404)
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
  }
})
