import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { aDestination, anIngestKey, post } from '../stage/fixtures.ts'
import { aGuest, aPortal } from '../stage/portal-stage.ts'
import {
  applied,
  aProject,
  database,
  exported,
  items,
  onConfigStage,
  planned,
  refused,
  sink,
  textOf,
  type Config,
  type Project,
  world,
} from '../stage/config-stage.ts'

/** Workflows and AI triggers as code: destinations and agents are named, because ids differ from project to project. */
onConfigStage()

async function anAgent(project: Project, name = 'Triage'): Promise<string> {
  const provider = { name: 'Models', kind: 'openai_compatible', base_url: 'http://127.0.0.1:9/', default_model: 'm' }
  const made = await project.admin('POST', 'ai-providers', provider)
  const agent = { name, provider_id: made.body.ai_provider.id, instructions: 'Sort it.' }
  const answer = await project.admin('POST', 'ai-agents', agent)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.ai_agent.id
}

const WORKFLOW = {
  name: 'Follow up',
  entry_dataset: 'orders',
  entry_conditions: [{ path: 'total', op: 'gt', value: 40 }],
  steps: [
    { id: 'later', type: 'delay', seconds: 60 },
    {
      id: 'sort',
      type: 'branch',
      branches: [
        {
          name: 'large',
          conditions: [{ path: 'total', op: 'gt', value: 1_000 }],
          steps: [{ id: 'tell', type: 'deliver', destination: 'ERP' }],
        },
      ],
      else: [{ id: 'ask', type: 'run_agent', agent: 'Triage', input: { text: '{{ payload.note }}' } }],
    },
    { id: 'note', type: 'emit_event', dataset: 'notes', data: { of: '{{ payload.id }}' } },
  ],
}
const TRIGGER = {
  name: 'Sort tickets',
  dataset: 'tickets',
  agent: 'Triage',
  output_dataset: 'sorted',
  max_per_minute: 30,
}

/** A project with a workflow and a trigger, made through the API with ids. */
async function aSource(): Promise<Project> {
  const project = await aProject()
  const agent = await anAgent(project)
  const { destination } = await aDestination(project, { name: 'ERP', url: sink.url, datasets: ['large'] })
  const text = JSON.stringify(WORKFLOW).replace('"ERP"', `"${destination.id}"`).replace('"Triage"', `"${agent}"`)
  assert.equal((await project.admin('POST', 'workflows', JSON.parse(text))).status, 201)
  const { agent: _name, ...trigger } = TRIGGER
  assert.equal((await project.admin('POST', 'triggers', { ...trigger, agent_id: agent })).status, 201)
  return project
}

test('an export names destinations and agents, and applies to another project with its own ids', async () => {
  const source = await aSource()
  const config = await exported(source)
  assert.deepEqual(
    [config['workflows'][0].steps[1].branches[0].steps[0].destination, config['workflows'][0].steps[1].else[0].agent],
    ['ERP', 'Triage'],
  )
  assert.equal(config['workflows'][0].slug, 'follow-up')
  assert.deepEqual(config['triggers'], [{ ...TRIGGER, conditions: [], active: true }].map(inOrder))
  assert.deepEqual(config['not_exported'], [
    { kind: 'ai_agent', name: 'Triage' },
    { kind: 'ai_provider', name: 'Models' },
  ])
  assert.equal((await planned(source, config))['empty'], true)

  const target = await aProject()
  const theirs = await anAgent(target)
  assert.deepEqual((await planned(target, config))['create'], [
    ...items('destination', 'ERP'),
    ...items('workflow', 'Follow up'),
    ...items('trigger', 'Sort tickets'),
  ])
  await applied(target, config)
  assert.equal(
    (await textOf(target)).replace(/"project": "[^"]*"/, ''),
    (await textOf(source)).replace(/"project": "[^"]*"/, ''),
  )
  assert.equal((await planned(target, config))['empty'], true)
  const [trigger] = (await target.admin('GET', 'triggers')).body.triggers
  assert.equal(trigger.agent_id, theirs)
  const [workflow] = (await target.admin('GET', 'workflows')).body.workflows
  const { steps } = (await target.admin('GET', `workflows/${workflow.id}`)).body.workflow
  const [destination] = (await target.admin('GET', 'destinations')).body.destinations
  assert.equal(steps[1].branches[0].steps[0].destination, destination.id)
  assert.equal(steps[1].else[0].agent, theirs)
})

const sendingTo = (destination: string) => ({
  name: 'Send',
  entry_dataset: 'orders',
  steps: [{ id: 'send', type: 'deliver', destination }],
})

test('a workflow reaches only destinations of the project, and none of a customer, by id or by name', async () => {
  const source = await aSource()
  const guest = await aGuest(source, { portal: (await aPortal(source)).id })
  const { destination: theirs } = await aDestination(source, { name: 'Theirs', url: sink.url, datasets: ['theirs'] })
  await database.run(sql`
    update destinations
       set portal_customer_id = ${decodeId('customer', guest.customer) ?? ''}
     where id = ${decodeId('destination', theirs.id) ?? ''}
  `)
  refused(await source.admin('POST', 'workflows', sendingTo(theirs.id)), /this project has no destination with this id/)
  const config = { ...(await exported(source)), workflows: [sendingTo('Theirs')] }
  refused(await source.admin('POST', 'config/apply', { config }), /destination/)
})

const inOrder = ({ name, dataset, conditions, agent, active, ...rest }: Config): Config => ({
  name,
  dataset,
  conditions,
  agent,
  active,
  ...rest,
})

test('a change is shown member by member, makes one new version, and an equal configuration makes none', async () => {
  const project = await aSource()
  const config = await exported(project)
  const versionOf = async (): Promise<number> => (await project.admin('GET', 'workflows')).body.workflows[0].version
  await applied(project, config)
  assert.equal(await versionOf(), 1)
  config['workflows'][0].steps[0].seconds = 90
  config['triggers'][0].active = false
  const { change } = await planned(project, config)
  assert.deepEqual(
    change.map(({ kind, identity, changes }: Config) => [kind, identity, changes.map(({ member }: Config) => member)]),
    [
      ['workflow', 'Follow up', ['steps']],
      ['trigger', 'Sort tickets', ['active']],
    ],
  )
  await applied(project, config)
  assert.equal(await versionOf(), 2)
  assert.equal((await planned(project, config))['empty'], true)
})

test('a plan lists the workflows and the AI triggers that the newest stored payloads would start, and no longer start', async () => {
  const project = await aSource()
  const { key } = await anIngestKey(project)
  const send = (dataset: string, body: string) => post(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, body)
  const ticket = (await send('tickets', '{"text":"help"}')).body.id
  await send('orders', '{"total":90}')
  const small = (await send('orders', '{"total":30}')).body.id
  await send('orders', '{"total":5}')
  const config = await exported(project)
  config['workflows'][0].entry_conditions[0].value = 20
  config['triggers'][0].active = false
  const { routing } = await planned(project, config)
  const none = { added: [], removed: [], changed: [] }
  assert.deepEqual(
    routing.payloads.map(({ submission_id, records, deliveries, starts }: Config) => [
      submission_id,
      records,
      deliveries,
      starts,
    ]),
    [
      [small, none, none, { ...none, added: [{ kind: 'workflow', name: 'Follow up', dataset: 'orders' }] }],
      [ticket, none, none, { ...none, removed: [{ kind: 'trigger', name: 'Sort tickets', dataset: 'tickets' }] }],
    ],
  )
  assert.deepEqual([routing.compared, routing.different], [4, 2])
})

test('a workflow without a slug stays under its slug', async () => {
  const project = await aSource()
  const config = await exported(project)
  delete config['workflows'][0].slug
  assert.equal((await planned(project, config))['empty'], true)
})

test('workflows and triggers are deleted only on request, and before the destinations that they name', async () => {
  const project = await aSource()
  const empty = { version: 1, destinations: [], workflows: [], triggers: [] }
  assert.deepEqual((await planned(project, empty))['delete'], [])
  await applied(project, empty)
  assert.equal((await project.admin('GET', 'workflows')).body.workflows.length, 1)
  await applied(project, empty, { delete_missing: true })
  for (const path of ['workflows', 'triggers', 'destinations'])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.deepEqual((await project.admin('GET', path)).body[path], [])
})

test('a reference to a name that the project would not have is refused with its place, before anything is written', async () => {
  const project = await aSource()
  const config = await exported(project)
  const plan = (more: Config): ReturnType<Project['admin']> =>
    project.admin('POST', 'config/plan', { config: { ...config, ...more } })
  refused(
    await plan({ workflows: [JSON.parse(JSON.stringify(WORKFLOW).replace('"ERP"', '"CRM"'))] }),
    /^config\.workflows\[0\]\.steps\[1\]\.branches\[0\]\.steps\[0\]\.destination: the project would have no destination "CRM"\. /,
  )
  refused(
    await plan({ triggers: [{ ...TRIGGER, agent: 'Nobody' }] }),
    /^config\.triggers\[0\]\.agent: the project would have no AI agent "Nobody"\. Create it first, /,
  )
  refused(await plan({ workflows: [{ ...WORKFLOW, steps: [] }] }), /^config\.workflows\[0\]\.steps:? /)
  const another = { ...config, destinations: [{ name: 'CRM', url: sink.url }] }
  const text = JSON.stringify({ ...another, workflows: [WORKFLOW] }).replace(
    '"destination":"ERP"',
    '"destination":"CRM"',
  )
  const { create, change } = await planned(project, JSON.parse(text))
  assert.deepEqual([create, change.length], [items('destination', 'CRM'), 1])
})

test('an export applies although a workflow names a deleted destination, but nothing written may name one', async () => {
  const project = await aSource()
  const before = await exported(project)
  refused(
    await project.admin('POST', 'config/plan', { config: { ...before, destinations: [] }, delete_missing: true }),
    /\.destination: the project would have no destination "ERP"\. /,
  )
  const [destination] = (await project.admin('GET', 'destinations')).body.destinations
  assert.equal((await project.admin('DELETE', `destinations/${destination.id}`)).status, 200)
  const config = await exported(project)
  assert.equal((await planned(project, config))['empty'], true)
  await applied(project, { ...config, rules: [{ name: 'New', dataset: 'new' }] })
  config['workflows'][0].steps[0].seconds = 90
  refused(
    await project.admin('POST', 'config/plan', { config }),
    new RegExp(`\\.destination: the project would have no destination "${destination.id}"\\. `),
  )
})

test('the export of a workflow that names the destination of a customer applies while the workflow does not change', async () => {
  const project = await aSource()
  const guest = await aGuest(project, { portal: (await aPortal(project)).id })
  await database.run(sql`
    update destinations
       set portal_customer_id = ${decodeId('customer', guest.customer) ?? ''}
     where project_id = ${decodeId('project', project.id) ?? ''}
  `)
  const config = await exported(project)
  assert.deepEqual([config['destinations'], (await planned(project, config))['empty']], [[], true])
  config['workflows'][0].active = false
  refused(await project.admin('POST', 'config/plan', { config }), /the project would have no destination /)
})

test('two workflows with one name have the same identity, and the refusal names them', async () => {
  const project = await aSource()
  const same = { name: 'Follow up', entry_dataset: 'x', steps: [{ id: 'a', type: 'delay', seconds: 1 }] }
  assert.equal((await project.admin('POST', 'workflows', same)).status, 201)
  const config = await exported(project)
  assert.equal(config['workflows'].length, 2)
  refused(
    await project.admin('POST', 'config/plan', { config: { version: 1, workflows: [same] } }),
    /two workflows with the name "Follow up"/,
  )
})

test('a change of a workflow between plan and apply is refused', async () => {
  const project = await aSource()
  const config = await exported(project)
  config['workflows'][0].active = false
  const { id } = await planned(project, config)
  const [workflow] = (await project.admin('GET', 'workflows')).body.workflows
  await project.admin('DELETE', `workflows/${workflow.id}`)
  const { status, body } = await project.admin('POST', 'config/apply', { config, plan: id })
  assert.deepEqual([status, body.reason], [409, 'project_changed'])
})

test('a configuration contains any text, also one that PostgreSQL does not read in JSON', async () => {
  const project = await aProject()
  const text = 'half \ud800, and \0'
  const steps = [{ id: 'note', type: 'emit_event', dataset: 'notes', data: { text } }]
  const made = await project.admin('POST', 'workflows', { name: 'Odd', entry_dataset: 'orders', steps })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { body: endpoint } = await project.admin('POST', 'webhooks', {
    name: 'Odd',
    dataset: 'orders',
    criteria: [{ path: 'a', op: 'not_equals', value: text }],
  })
  assert.equal((await post(endpoint.webhook.public_url, '{"a":1}')).status, 201)
  const config = await exported(project)
  assert.equal(config['workflows'][0].steps[0].data.text, text)
  config['endpoints'][0].criteria = []
  const { routing } = await planned(project, config, { recent: 10 })
  assert.notEqual(routing, null)
})
