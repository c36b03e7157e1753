import { sql, type Database } from '../../../server/src/platform/db.ts'
import { rollUp } from '../../../server/src/resources/workspace/rollups/roll-up.ts'
import { aGrantedAgent } from '../../../server/test/stage/agents-granted.ts'
import { aModelServer, asked, runOf } from '../../../server/test/stage/ai-stage.ts'
import { aDestination, aRule, aWebhook, behind, post } from '../../../server/test/stage/fixtures.ts'
import { eventually, type World } from '../../../server/test/stage/harness.ts'
import { aMember, ask, theWorkspace } from '../../../server/test/stage/people.ts'
import type { Stage } from './browser.ts'
import type { Scene } from './place.ts'
import { aScene } from './scene.ts'

/** The scene with what people see less often: failures, refusals, earlier versions, and work that is not finished. */
export type RareScene = Scene & {
  /** An endpoint with an earlier version, and with records of which one is too large for a table. */
  readonly bulkId: string
  /** An event whose payload has many lines. */
  readonly longId: string
  /** The slugs of a project without an endpoint, and of one with an event and no destination. */
  readonly empty: string
  readonly guided: string
  /** A workflow with two versions. */
  readonly revisedId: string
  readonly failedRunId: string
  readonly aiRunId: string
  readonly failedAiRunId: string
  /** An agent that no trigger starts. */
  readonly idleAgentId: string
  /** A program that has made requests. */
  readonly connectedAgentId: string
}

type Rare = Omit<RareScene, keyof Scene>

export async function aRareScene(stage: Stage): Promise<{ readonly scene: RareScene; stop(): Promise<void> }> {
  const { world } = stage
  const made = await aScene(stage)
  const models = await aModelServer()
  const database = behind(world)
  try {
    const rare: Rare = {
      ...(await projects(world)),
      ...(await workflows(world, made.bad.url)),
      ...(await agents(world, models)),
      ...(await requests(world)),
      connectedAgentId: await people(world, database),
    }
    await asked(world, 'POST webhooks', {
      name: 'Bare',
      verification: { scheme: 'code_host', without_secret: true },
    })
    await aReplay(world)
    await settled(world, { ...made.scene, ...rare })
    await counted(world)
    return {
      scene: { ...made.scene, ...rare },
      stop: async () => {
        await made.stop()
        await models.stop()
      },
    }
  } finally {
    await database.close()
  }
}

async function projects(world: World): Promise<Pick<Rare, 'empty' | 'guided'>> {
  const { project: empty } = await asked(world, 'POST projects', { name: 'Empty' })
  const { project: guided } = await asked(world, 'POST projects', { name: 'Guided' })
  const { webhook } = await asked(world, `POST projects/${guided.id}/webhooks`, { name: 'First' })
  await post(webhook.public_url, '{"type":"order.created"}')
  return { empty: empty.slug, guided: guided.slug }
}

/** Endpoints whose requests are in no dataset, rejected, or too large for a table. */
async function requests(world: World): Promise<Pick<Rare, 'bulkId' | 'longId'>> {
  const picky = await aWebhook(world, { name: 'Picky', criteria: [{ path: 'kind', equals: 'wanted' }] })
  await post(picky.public_url, '{"kind":"other","text":"sewing kit"}')
  const guarded = await aWebhook(world, { name: 'Guarded', ip_allowlist: ['203.0.113.7'] })
  await post(guarded.public_url, '{}')
  const bulk = await aWebhook(world, { name: 'Bulk', dataset: 'bulk' })
  await asked(world, `PATCH webhooks/${bulk.id}`, { criteria: [{ path: 'total', op: 'exists' }] })
  await post(bulk.public_url, '{"total":42.5,"customer":{"country":"DE"}}')
  await post(bulk.public_url, JSON.stringify({ total: 1, ['k'.repeat(5_000)]: Array<number>(5_000).fill(0) }))
  const rule = await aRule(world, { name: 'Yesterday’s orders' })
  await asked(world, `DELETE rules/${rule.id}`)
  const long = Object.fromEntries(Array.from({ length: 80 }, (_none, n) => [`field_${n}`, `value ${n}`]))
  const { records } = (await post(world.endpoint, JSON.stringify(long))).body
  return { bulkId: bulk.id, longId: records[0].id }
}

async function workflows(world: World, lockedUrl: string): Promise<Pick<Rare, 'revisedId' | 'failedRunId'>> {
  const locked = await aDestination(world, {
    name: 'locked ledger',
    url: lockedUrl,
    datasets: ['nothing'],
    retry: { schedule_seconds: [0] },
  })
  const { workflow: failing } = await asked(world, 'POST workflows', {
    name: 'Notify the ledger',
    entry_dataset: 'nowhere',
    steps: [
      { id: 'file', type: 'emit_event', dataset: 'filed', data: { total: '{{ payload.total }}' } },
      {
        id: 'notify',
        type: 'deliver',
        destination: locked.destination.id,
        await: 'delivered',
        retry: { max_attempts: 1, backoff_seconds: 1 },
      },
    ],
  })
  const { records } = await asked(world, 'GET records?limit=1')
  const { instance } = await asked(world, `POST workflows/${failing.id}/run`, { record_id: records[0].id })
  const members = { name: 'Revised', entry_dataset: 'versions', active: false }
  const { workflow: revised } = await asked(world, 'POST workflows', {
    ...members,
    steps: [{ id: 'file', type: 'emit_event', dataset: 'first' }],
  })
  await asked(world, `PUT workflows/${revised.id}`, {
    ...members,
    steps: [{ id: 'file', type: 'emit_event', dataset: 'second' }],
  })
  return { revisedId: revised.id, failedRunId: instance.id }
}

/** A run that called a tool and ended, and one whose provider does not answer. */
async function agents(
  world: World,
  models: Awaited<ReturnType<typeof aModelServer>>,
): Promise<Pick<Rare, 'idleAgentId' | 'aiRunId' | 'failedAiRunId'>> {
  models.on({ userMessage: /fire/ }, (request) =>
    request.messages.some(({ role }) => role === 'tool')
      ? { content: '{"urgency":"high"}', usage: { prompt_tokens: 60, completion_tokens: 4 } }
      : {
          toolCalls: [{ id: 'call_1', name: 'list_datasets', arguments: '{}' }],
          usage: { prompt_tokens: 40, completion_tokens: 2 },
        },
  )
  models.onMessage(/.*/, { content: 'hello' })
  const { ai_provider } = await asked(world, 'POST ai-providers', {
    name: 'Working models',
    kind: 'openai_compatible',
    base_url: `${models.url}/v1`,
    default_model: 'small',
  })
  const anAgent = async (name: string): Promise<string> => {
    const { ai_agent } = await asked(world, 'POST ai-agents', {
      name,
      provider_id: ai_provider.id,
      instructions: 'Say how urgent the ticket is.',
      tools: ['list_datasets'],
    })
    return ai_agent.id
  }
  await asked(world, 'POST triggers', { name: 'Alarms', dataset: 'alarms', agent_id: await anAgent('Dispatcher') })
  return {
    aiRunId: await runOf(world, { dataset: 'alarms', payload: { text: 'fire' } }),
    failedAiRunId: await runOf(world, { dataset: 'tickets', payload: { open: true } }),
    idleAgentId: await anAgent('Idle'),
  }
}

async function people(world: World, database: Database): Promise<string> {
  const home = await theWorkspace(database)
  const developer = await aMember(world, database, { workspaceId: home.workspaceId, role: 'developer' })
  await database.run(sql`update users set name = 'Devon Developer' where id = ${developer.userId}`)
  const agent = await aGrantedAgent(world, database, { ...home, scope: 'service:read' })
  await ask(world, 'POST rules', { headers: agent.headers, body: { name: 'x', dataset: 'x' } })
  await ask(world, 'GET webhooks', { headers: agent.headers })
  return agent.id
}

/** A replay that has not ended, and one row of the history. */
async function aReplay(world: World): Promise<void> {
  const { replay } = await asked(world, 'POST replays', {
    filter: { state: ['delivered', 'failed'] },
    rate_per_second: 1,
  })
  await asked(world, `POST replays/${replay.id}/pause`)
}

/** The bars of the overview count only minutes that have passed. */
async function counted({ clock, app }: World): Promise<void> {
  clock.advance(120_000)
  await rollUp(app.deps)
}

/** Waits until everything that fails has failed. The loops run by the clock of the server. */
async function settled(world: World, { automation, failedRunId, aiRunId, failedAiRunId }: RareScene): Promise<void> {
  const wanted = {
    'the workflow run fails': async () =>
      (await asked(world, `GET workflow-instances/${failedRunId}`)).instance.state === 'failed',
    'the AI run succeeds': async () => (await asked(world, `GET ai-runs/${aiRunId}`)).ai_run.state === 'succeeded',
    'the other AI run fails': async () => (await asked(world, `GET ai-runs/${failedAiRunId}`)).ai_run.error !== null,
    'the source fails': async () =>
      (await asked(world, `GET sources/${automation.httpSourceId}`)).source.state === 'failing',
    'the socket fails': async () =>
      (await asked(world, `GET ws-triggers/${automation.socketId}`)).ws_trigger.failures > 0,
    'the forwarder fails': async () =>
      (await asked(world, `GET forwarders/${automation.forwarderId}`)).forwarder.state === 'failing',
    'the server writes the refusal': async () =>
      (await asked(world, 'GET rejections?reason=ip_not_allowed')).rejections.length > 0,
  }
  for (const [what, isTrue] of Object.entries(wanted))
    // oxlint-disable-next-line no-await-in-loop -- the clock moves on in each
    await eventually(what, async () => {
      if (await isTrue()) return true
      world.clock.advance(1_000)
      return undefined
    })
}
