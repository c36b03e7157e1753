import assert from 'node:assert/strict'
import type { Route } from '@postroad/contract'
import { assertHeaded, world, type Named } from '../../stage/admin-asking.ts'
import { answerOf, openapi, parserOf, type OpenApi } from '../../stage/openapi-document.ts'
import type { Judge } from './judge.ts'
import { performed } from './performed.ts'

export const roles: Judge = {
  promise:
    'each role may call the routes that the contract lists, under their project and, for the Default project, under the root',
  judge: async (named) => {
    for (const { answer, sender, project } of await performed(named))
      assert.equal(answer.status, named.route.status, `${sender.who} in ${project ?? 'the root'}: ${answer.text}`)
  },
}

let document: OpenApi

const typeOf = ({ download }: Route): string => download?.type ?? 'application/json'

export const answers: Judge = {
  promise: 'every route answers according to the contract and /openapi.json, which allows its body too',
  around: async (walk) => {
    document = await openapi(world.baseUrl)
    await walk()
  },
  judge: async (named) => {
    const all = await performed(named)
    for (const inProject of named.route.area === 'project' ? [true, false] : [false]) {
      const { answer, body } = parsersOf(named, inProject)
      const sent = all.filter(({ project }) => (project !== undefined) === inProject)
      assert.ok(sent.length > 0)
      for (const one of sent) {
        assertHeaded(one.answer, typeOf(named.route))
        assert.deepEqual(answer.safeParse(one.answer.body).error, undefined, one.answer.text)
        if (body !== undefined) assert.deepEqual(body.safeParse(one.asked.body).error, undefined)
      }
    }
  },
}

/** The answer and the body of the operation, as the document describes them. */
function parsersOf({ name, route }: Named, inProject: boolean) {
  const template = `/admin/api/${inProject ? 'projects/{project_id}/' : ''}${route.path}`
  const operation = document.paths[template]?.[route.method.toLowerCase()]
  assert.ok(operation, template)
  const media = answerOf(document, operation, String(route.status))?.content?.[typeOf(route)]
  assert.ok(media, name)
  const schema = operation.requestBody?.content['application/json']?.schema
  assert.equal(schema === undefined, route.body === undefined)
  return {
    answer: parserOf(document, media.schema),
    body: schema === undefined ? undefined : parserOf(document, schema),
  }
}

export const sameUnderRoot: Judge = {
  promise: 'a read under the root gives the same answer as a read under the Default project',
  about: ({ route }) => route.area === 'project' && route.method === 'GET',
  judge: async (named) => {
    const bySender = Map.groupBy(await performed(named), ({ sender }) => sender.who)
    for (const [who, both] of bySender) {
      assert.equal(both.length, 2)
      assert.deepEqual(both[0]?.answer.body, both[1]?.answer.body, who)
    }
  },
}
