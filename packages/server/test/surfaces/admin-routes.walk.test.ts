import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SERVICE_VERSION, signInRoutes, type Route, type SignInRoute } from '@postroad/contract'
import {
  ALL,
  ask,
  askBy,
  assertHeaded,
  assertRefused,
  auditRows,
  call,
  enterPlaces,
  foreign,
  home,
  itemsOf,
  leavePlaces,
  LISTS,
  ownerOf,
  pathOf,
  whoCalls,
  world,
} from '../stage/admin-asking.ts'
import { signedIn } from '../stage/fixtures.ts'
import { answerOf, openapi, parserOf } from '../stage/openapi-document.ts'
import { anotherOwner, aProjectIn } from '../stage/example-resources.ts'
import { example, EXAMPLES } from '../stage/route-examples.ts'

/** Rules for every admin route, derived from the contract: an example each, and every possible fault of a request. */
before(enterPlaces)
after(leavePlaces)

const typeOf = ({ download }: Route): string => download?.type ?? 'application/json'

test('every route has an example here', () => {
  assert.deepEqual(
    ALL.map(({ name }) => name).filter((name) => EXAMPLES[name] === undefined),
    [],
  )
})

test('every route answers according to the contract and /openapi.json, under its project and, for the Default project, under the root', async () => {
  const document = await openapi(world.baseUrl)
  for (const named of ALL) {
    const { route, name } = named
    for (const project of route.area === 'project' ? [home.project, undefined] : [undefined]) {
      const answer = await ask(named, home, {
        asked: await example(named, home),
        ...(project === undefined ? {} : { project }),
      })
      assert.equal(answer.status, route.status, `${name}: ${answer.text}`)
      assertHeaded(answer, typeOf(route))
      const template = `/admin/api/${project === undefined ? '' : 'projects/{project_id}/'}${route.path}`
      const operation = document.paths[template]?.[route.method.toLowerCase()]
      assert.ok(operation, template)
      const media = answerOf(document, operation, String(route.status))?.content?.[typeOf(route)]
      assert.ok(media, name)
      assert.deepEqual(parserOf(document, media.schema).safeParse(answer.body).error, undefined, name)
    }
  }
})

test('a read under the root gives the same answer as a read under the Default project', async () => {
  for (const named of ALL.filter(({ route }) => route.area === 'project' && route.method === 'GET')) {
    const asked = await example(named, home)
    const [alias, whole] = [await ask(named, home, { asked }), await ask(named, home, { asked, project: home.project })]
    assert.deepEqual(alias.body, whole.body, named.name)
  }
})

test('without a key, with a wrong key or with another scheme every route answers 401', async () => {
  for (const named of ALL) {
    const path = pathOf(named, { params: {} })
    for (const authorization of [
      undefined,
      'Bearer hk_unknown',
      'Bearer ik_live_x',
      `Basic ${home.key}`,
      'Bearer',
      home.key,
    ]) {
      const answer = await call(
        undefined,
        `${named.route.method} ${path}`,
        authorization === undefined ? {} : { headers: { authorization } },
      )
      assertRefused(answer, 401, 'unauthorized')
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
    }
  }
})

test('a cookie without X-Requested-With changes nothing, whatever the request is', async () => {
  for (const named of ALL.filter(({ route }) => route.method !== 'GET')) {
    const asked = await example(named, home)
    const by = asked.by ?? (await ownerOf(home))
    assert.ok('headers' in by)
    const { 'x-requested-with': _page, ...cookieAlone } = by.headers
    const had = (await auditRows()).length
    assertRefused(await askBy({ headers: cookieAlone }, named, { asked }), 403, 'csrf_header_missing')
    assert.equal((await auditRows()).length, had, named.name)
  }
  const { cookie = '' } = await signedIn(world, await anotherOwner())
  for (const { method, path } of Object.values<SignInRoute>(signInRoutes).filter((route) => route.method !== 'GET')) {
    const had = (await auditRows()).length
    assertRefused(await call({ headers: { cookie } }, `${method} ${path}`, { body: {} }), 403, 'csrf_header_missing')
    assert.equal((await auditRows()).length, had, path)
  }
})

test('every route accepts the served Service-Version and refuses every other with the list', async () => {
  for (const named of ALL) {
    const refused = await call(home, `${named.route.method} ${pathOf(named, {})}`, {
      headers: { 'service-version': '2020-01-01' },
    })
    assertRefused(refused, 400, 'unsupported_version')
    assert.deepEqual(refused.body.supported_versions, [SERVICE_VERSION])
  }
  assert.equal((await call(home, 'GET me', { headers: { 'service-version': SERVICE_VERSION } })).status, 200)
})

test('an id of another workspace, an unknown id, an id of another kind and an invalid id get the same 404', async () => {
  for (const named of ALL.filter(({ route }) => route.path.includes('{'))) {
    const own = await example(named, home)
    const theirs = await example(named, foreign)
    const kind = (theirs.params?.['id'] ?? '').slice(0, 3)
    const unknown = `${kind}_${'0'.repeat(26)}`
    const texts = new Set<string>()
    for (const id of [
      // An operator finds the resources of every workspace.
      ...(named.route.operator === true ? [] : [theirs.params?.['id'] ?? '']),
      unknown,
      `usr_${'0'.repeat(26)}`,
      'nonsense',
      `${kind}_`,
      `${unknown}0`,
      unknown.toUpperCase(),
      '%00',
      "'",
    ]) {
      const answer = await ask(named, home, { asked: { ...own, params: { ...own.params, id } } })
      assertRefused(answer, 404, 'not_found')
      texts.add(answer.text)
    }
    assert.equal(texts.size, 1, named.name)
  }
})

test('a resource in another project or workspace gets 404', async () => {
  const { params } = await aProjectIn(home)
  const other = params?.['id'] ?? ''
  const strangers = [foreign.project, `prj_${'0'.repeat(26)}`, 'nonsense']
  for (const named of ALL.filter(({ route }) => route.area === 'project')) {
    for (const project of strangers)
      assertRefused(await ask(named, home, { asked: { params: {} }, project }), 404, 'not_found')
    if (!named.route.path.includes('{')) continue
    assertRefused(await ask(named, home, { asked: await example(named, home), project: other }), 404, 'not_found')
  }
  for (const list of LISTS.filter(({ route }) => route.area === 'project')) {
    const answer = await ask(list, home, { asked: {}, project: other })
    assert.deepEqual([answer.status, itemsOf(answer)], [200, []], list.name)
  }
})

test('a body that is not a JSON object, or has an unknown member, is refused, and the error names the fault', async () => {
  for (const named of ALL.filter(({ route }) => route.body !== undefined)) {
    const { method } = named.route
    const by = await whoCalls(named, home)
    const asked = await example(named, home)
    const path = pathOf(named, asked)
    const extra = await call(by, `${method} ${path}`, { body: { ...asked.body, frobnicate: 1 } })
    assertRefused(extra, 400, 'invalid_request')
    assert.equal(extra.body.error, 'body: "frobnicate" is not a member of this request; remove it.')
    for (const raw of ['{"name":', 'name=x', '\0']) {
      const broken = await call(by, `${method} ${path}`, { raw })
      assertRefused(broken, 400, 'invalid_request')
      assert.match(broken.body.error, /not valid JSON/)
    }
    for (const raw of ['[]', '"x"', '1', 'null', 'true'])
      assertRefused(await call(by, `${method} ${path}`, { raw }), 400, 'invalid_request')
    const proto = await call(by, `${method} ${path}`, {
      raw: JSON.stringify({ ...asked.body })
        .replace(/\}$/, ',"__proto__":{"admin":true}}')
        .replace('{,', '{'),
    })
    assertRefused(proto, 400, 'invalid_request')
  }
})

test('unknown query parameters are ignored', async () => {
  for (const named of ALL.filter(({ route }) => route.method === 'GET')) {
    const asked = await example(named, home)
    const answer = await ask(named, home, { asked: { ...asked, query: { ...asked.query, frobnicate: '1' } } })
    assert.equal(answer.status, 200, named.name)
  }
})

test('a body larger than 1 MiB answers 413', async () => {
  assertRefused(
    await call(home, 'POST datasets', { raw: `{"name":"${'x'.repeat(1_048_577)}"}` }),
    413,
    'payload_too_large',
  )
})

test('a method outside the contract gets 405 with the allowed ones; an unknown address gets 404', async () => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  for (const path of new Set(ALL.map(({ route }) => route.path))) {
    // rules/test is also an address of the form rules/{id}.
    const answering = ALL.filter(({ route }) =>
      new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
    // PUT sso/{id} answers too, with 501 whatever the id is (people/sso.test.ts).
    const replaces = /^sso\/[^/]+$/.test(path) ? (['PUT'] as const) : []
    const allowed = [...new Set([...answering.map(({ route }) => route.method), ...replaces])]
    for (const method of methods.filter((one) => !allowed.some((known) => known === one))) {
      const answer = await call(home, `${method} ${path}`)
      assertRefused(answer, 405, 'method_not_allowed')
      const reported =
        answer.headers
          .get('allow')
          ?.split(', ')
          .filter((one) => one !== 'HEAD') ?? []
      assert.deepEqual(reported.toSorted(), allowed.toSorted(), `${method} ${path}`)
    }
  }
  for (const path of ['nothing', 'projects/x/y/z/w', 'webhooks/x/nothing', ''])
    assertRefused(await call(home, `GET ${path}`), 404, 'route_not_found')
})

test('a route that changes data is not a GET, and a route that changes nothing never answers 201', () => {
  for (const { name, route } of ALL) {
    if (route.method === 'GET') assert.equal(route.whileSuspended, 'read', name)
    if (route.whileSuspended === 'read') assert.equal(route.status, 200, name)
  }
})
