import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeId } from '@postroad/contract'
import { aGrantedAgent } from '../../../server/test/stage/agents-granted.ts'
import { behind } from '../../../server/test/stage/fixtures.ts'
import { eventually } from '../../../server/test/stage/harness.ts'
import { aClient, authorizeUrl, sendForm } from '../../../server/test/stage/oauth-stage.ts'
import { ask, aWorkspace, theWorkspace, type Member } from '../../../server/test/stage/people.ts'
import { noBrowser, onStage, type Seen, type Stage } from '../stage/browser.ts'

let stage: Stage
let owner: Member
onStage(async (made) => {
  ;({ stage } = made)
  const database = behind(stage.world)
  try {
    owner = await theWorkspace(database)
    const other = await aWorkspace(stage.world, database, 'second')
    await database.run({
      strings: [
        `insert into members (workspace_id, user_id, role, created_at) values ('${other.workspaceId}', '${owner.userId}', 'viewer', now())`,
      ],
      values: [],
    })
  } finally {
    await database.close()
  }
})

const anAgent = async (scope: 'service:read' | 'service:write') => {
  const database = behind(stage.world)
  try {
    return await aGrantedAgent(stage.world, database, { ...owner, scope })
  } finally {
    await database.close()
  }
}

const WIDTHS = [1_440, 390] as const

/** Looks at the page at both widths. */
async function looked(seen: Seen, name: string): Promise<void> {
  for (const width of WIDTHS) {
    // oxlint-disable-next-line no-await-in-loop -- one page
    await seen.page.setViewportSize({ width, height: 900 })
    // oxlint-disable-next-line no-await-in-loop -- one page
    await seen.picture(`${name}-${width}`)
    // oxlint-disable-next-line no-await-in-loop -- one page
    assert.equal(
      await seen.page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
      true,
      `${name} ${width}`,
    )
  }
  await seen.page.setViewportSize({ width: 1_440, height: 900 })
}

describe('connected agents', { skip: noBrowser }, () => {
  test('a person sees who asks, chooses, and goes back to the program', async () => {
    const { world } = stage
    const client = await aClient(world, { client_name: 'Claude Code' })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(world.baseUrl + authorizeUrl(world, { client, members: { scope: 'service:write' } }))
    await page.getByRole('heading', { name: 'Connect Claude Code?' }).waitFor()
    await page.getByText('registered itself; nobody has checked its name').waitFor()
    assert.equal(await page.getByRole('radio', { name: /^Read and write/ }).isChecked(), true)
    await page.getByText('Allow it only if you have just started it yourself').waitFor()
    await page.getByRole('combobox', { name: 'Workspace' }).selectOption({ label: 'second' })
    await page.getByText('Your role in this workspace is viewer').waitFor()
    await looked(seen, 'consent')
    await page.getByRole('combobox', { name: 'Workspace' }).selectOption({ index: 0 })
    await page.getByRole('radio', { name: /^Read See/ }).check()
    // Nothing listens at the address of the program, so the browser shows that it cannot go there.
    const gone = page.waitForRequest((request) => request.url().startsWith('http://127.0.0.1:33418/callback'))
    await page.getByRole('button', { name: 'Allow' }).click()
    const back = new URL((await gone).url())
    assert.match(back.searchParams.get('code') ?? '', /^.{20,}$/)
    await eventually('the browser shows its own page', () =>
      Promise.resolve(page.url().startsWith('chrome-error:') ? true : undefined),
    )
    await seen.close()
  })

  test('a person confirms the code of a device', async () => {
    const { world } = stage
    const { body } = await sendForm(world, 'device_authorization', {
      client_id: 'postroad-cli',
      scope: 'service:write',
      device_name: 'ada-laptop',
    })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(body.verification_uri_complete)
    assert.equal(await page.getByRole('textbox', { name: 'Code' }).inputValue(), body.user_code)
    await looked(seen, 'device-code')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('ada-laptop').waitFor()
    await looked(seen, 'device')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    await seen.close()
  })

  test('a person sees the list, the access of one agent, and the way to connect another', async () => {
    const agent = await anAgent('service:read')
    await ask(stage.world, 'POST rules', { headers: agent.headers, body: { name: 'x', dataset: 'x' } })
    await ask(stage.world, 'GET webhooks', { headers: agent.headers })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('connected-agents'))
    await page.getByRole('grid', { name: 'Connected agents' }).getByRole('row').nth(1).waitFor()
    await looked(seen, 'agents')
    await page.getByRole('button', { name: 'Connect an agent' }).click()
    await page.getByRole('dialog').getByText('claude mcp add').waitFor()
    await looked(seen, 'agents-connect')
    for (const name of ['Cursor', 'VS Code', 'Codex', 'Other', 'Command line'])
      // oxlint-disable-next-line no-await-in-loop -- one page
      await page.getByRole('dialog').getByRole('button', { name }).click()
    await page.getByRole('dialog').getByText(`postroad login --url ${stage.world.baseUrl}`).waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.goto(stage.url(`connected-agents?sel=${agent.id}`))
    await page.getByText('rules.create').first().waitFor()
    await looked(seen, 'agent')
    await seen.close()
  })

  test('the link of a refusal opens the agent; widening and revoking apply to its next request', async () => {
    const agent = await anAgent('service:read')
    const create = () =>
      ask(stage.world, 'POST rules', {
        headers: agent.headers,
        body: { name: `rule ${stage.world.app.deps.uuid()}`, dataset: 'x' },
      })
    const refused = await create()
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(refused.body.manage_url)
    const widen = page.getByRole('button', { name: 'Widen to Read and write' })
    await widen.click()
    await widen.waitFor({ state: 'detached' })
    assert.equal((await create()).status, 201)
    await page.getByRole('button', { name: 'More' }).last().click()
    await page.getByRole('menuitem', { name: 'Revoke…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal((await create()).body.reason, 'agent_revoked')
    await seen.close()
  })

  test('the link of a refusal opens the workspace of the agent', async () => {
    const { world } = stage
    const database = behind(world)
    const { id: second } = await database.one<{ id: string }>({
      strings: [`select id from workspaces where slug = 'second'`],
      values: [],
    })
    await database.close()
    const seen = await stage.owner()
    await seen.page.goto(`${world.baseUrl}/settings/agents?workspace=${encodeId('workspace', second)}`)
    await seen.page.waitForURL(/\/second\/default\/connected-agents$/)
    await seen.page.getByText('No connected agents yet').waitFor()
    await seen.page.goto(`${world.baseUrl}/settings/agents?workspace=${encodeId('workspace', owner.workspaceId)}`)
    await seen.page.waitForURL(/\/main\/default\/connected-agents$/)
    await seen.close()
  })

  test('a person who is not signed in returns to the consent after the sign-in', async () => {
    const { world } = stage
    const client = await aClient(world)
    const seen = await stage.stranger()
    await seen.page.goto(world.baseUrl + authorizeUrl(world, { client }))
    await seen.page.waitForURL(/\/sign-in\?next=%2Fapi%2Foauth%2Fconsent%2F/)
    await seen.close()
  })
})
