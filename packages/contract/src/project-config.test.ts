import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { ProjectConfig } from './project-config.ts'
import { routes } from './routes/index.ts'

/** By the path of one resource: the list of a configuration that has these resources. */
const LISTS = {
  'webhooks/{id}': 'endpoints',
  'webhooks/{id}/views/{view_id}': 'record_views',
  'rules/{id}': 'rules',
  'transforms/{id}': 'transforms',
  'destinations/{id}': 'destinations',
  'workflows/{id}': 'workflows',
  'triggers/{id}': 'triggers',
} as const

/** Settings with another name in a configuration. */
const NAMES: Readonly<Record<string, string>> = {
  'webhooks/{id}/quarantine hours': 'quarantine_hours',
  'triggers/{id} agent_id': 'agent',
  'destinations/{id} transform_id': 'transform',
  // An earlier version is code as well.
  'transforms/{id} version': 'code',
}

type Shape = Readonly<Record<string, unknown>>
const propertiesOf = (schema: z.ZodType): readonly string[] => {
  const { properties } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as { properties?: Shape }
  return Object.keys(properties ?? {})
}

test('every setting of an exported resource that a route changes is a member of its entry', () => {
  const { properties: lists } = z.toJSONSchema(ProjectConfig, { io: 'input', unrepresentable: 'any' }) as {
    properties: Readonly<Record<string, { items: { properties: Shape } }>>
  }
  const paths = Object.keys(LISTS) as (keyof typeof LISTS)[]
  const changed = Object.values(routes).flatMap((room) =>
    Object.values(room).flatMap((route: { method: string; area: string; path: string; body?: z.ZodType }) => {
      if (route.area !== 'project' || !['PATCH', 'PUT'].includes(route.method) || route.body === undefined) return []
      const of = paths
        .filter((path) => route.path === path || route.path.startsWith(`${path}/`))
        .toSorted((a, b) => b.length - a.length)[0]
      if (of === undefined) return []
      return propertiesOf(route.body).map((member) => ({
        list: LISTS[of],
        member: NAMES[`${route.path} ${member}`] ?? member,
      }))
    }),
  )
  for (const list of Object.values(LISTS))
    assert.ok(changed.filter((one) => one.list === list).length > 3, `${list} has settings`)
  const forgotten = changed.filter(({ list, member }) => lists[list]?.items.properties[member] === undefined)
  assert.deepEqual(forgotten, [])
})
