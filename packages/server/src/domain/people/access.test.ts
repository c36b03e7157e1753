import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPES } from '@postroad/contract'
import { callerRefusal, roleRefusal, scopeRefusal } from './access.ts'
import { projectRefusal } from './project-access.ts'
import type { Actor } from './actor.ts'

const PROJECT = '01890000-0000-7000-8000-000000000001'
const person: Actor = { kind: 'person', userId: PROJECT, sessionId: PROJECT, role: 'owner' }
const key = (projectId: string | null): Actor => ({
  kind: 'api_key',
  keyId: PROJECT,
  userId: PROJECT,
  role: 'admin',
  projectId,
})
const agent = (...scopes: readonly (typeof SCOPES)[number][]): Actor & { kind: 'agent' } => ({
  kind: 'agent',
  agentId: 'agent:test',
  userId: PROJECT,
  role: 'admin',
  scopes,
  manageUrl: 'https://hooks.example/settings/agents/test',
})

test('a route for people only refuses every key and agent, whatever its role and scope', () => {
  assert.equal(callerRefusal(person, { callers: 'people' }), undefined)
  for (const actor of [key(null), key(PROJECT), agent('service:manage')]) {
    assert.equal(callerRefusal(actor, { callers: 'all' }), undefined)
    const refusal = callerRefusal(actor, { callers: 'people' })
    assert.deepEqual(
      [refusal?.status, refusal?.reason, refusal?.fields],
      [403, 'agent_not_permitted', { code: 'agent_not_permitted' }],
    )
  }
})

test('the refusal of a call above the grant names the required scope, the granted scopes, and the page to widen them', () => {
  for (const [rank, granted] of SCOPES.entries()) {
    for (const [needed, scope] of SCOPES.entries()) {
      const refusal = scopeRefusal(agent(granted), { scope })
      if (needed <= rank) assert.equal(refusal, undefined, `${granted} includes ${scope}`)
      else {
        assert.deepEqual([refusal?.status, refusal?.reason], [403, 'agent_scope_insufficient'])
        assert.deepEqual(refusal?.fields, {
          code: 'agent_scope_insufficient',
          required_scope: scope,
          granted_scopes: [granted],
          manage_url: 'https://hooks.example/settings/agents/test',
        })
      }
    }
  }
  assert.equal(scopeRefusal(person, { scope: 'service:manage' }), undefined)
  assert.equal(scopeRefusal(key(null), { scope: 'service:manage' }), undefined)
})

test("when the person's own role is the limit, the refusal of an agent names the role and has no link", () => {
  const refusal = roleRefusal({ ...agent('service:manage'), role: 'viewer' }, { role: 'developer' })
  assert.deepEqual([refusal?.reason, refusal?.fields], ['insufficient_role', { code: 'insufficient_role' }])
})

test('the refusal of a key for one project names the routes that it may use', () => {
  const refused = [
    { route: { area: 'workspace' }, project: { kind: 'default' } },
    { route: { area: 'project' }, project: { kind: 'default' } },
    { route: { area: 'project' }, project: { kind: 'unknown' } },
    { route: { area: 'project' }, project: { kind: 'named', id: '01890000-0000-7000-8000-000000000002' } },
  ] as const
  for (const asked of refused) {
    const refusal = projectRefusal(key(PROJECT), asked)
    assert.deepEqual([refusal?.status, refusal?.reason], [403, 'project_out_of_scope'])
    assert.match(refusal?.message ?? '', /\/admin\/api\/projects\/prj_01h4[0-9a-z]+\/….*\/admin\/api\/me/)
    assert.equal(projectRefusal(key(null), asked), undefined)
    assert.equal(projectRefusal(person, asked), undefined)
  }
  assert.equal(
    projectRefusal(key(PROJECT), { route: { area: 'project' }, project: { kind: 'named', id: PROJECT } }),
    undefined,
  )
  assert.equal(
    projectRefusal(key(PROJECT), {
      route: { area: 'workspace', forOneProjectKeys: true },
      project: { kind: 'default' },
    }),
    undefined,
  )
})
