import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql } from '../../../server/src/platform/db.ts'
import { inEighth } from '../../../server/test/stage/eighths.ts'
import { aWorkspace, ask } from '../../../server/test/stage/people.ts'
import { noBrowser, type Seen } from '../stage/browser.ts'
import { aLine } from '../stage/line.ts'
import type { Scene } from '../stage/place.ts'
import { aScene, type Made } from '../stage/scene.ts'
import { onSettings, suspend, type Settings } from '../stage/settings.ts'

/** The states of a whole workspace, which every screen shows: each is accessible. */
let on: Settings
let made: Made
let scene: Scene

onSettings(
  async (settings) => {
    on = settings
    made = await aScene(on.stage)
    ;({ scene } = made)
  },
  () => made?.stop(),
)

const aPage = (): Promise<Seen> => on.stage.owner()

const states: { readonly name: string; readonly visit: () => Promise<void> }[] = []
const add = (name: string, visit: () => Promise<void>): void => void states.push({ name, visit })

add('a suspended workspace', async () => {
  await suspend(on, 'The invoice of May is unpaid')
  try {
    const seen = await aPage()
    const { page } = seen
    await page.goto(on.stage.url('members'))
    const banner = page.getByRole('status').filter({ hasText: 'This workspace is suspended.' })
    await banner.locator('summary').click()
    await banner.getByText('Revoking API keys and invites').waitFor()
    await seen.accessible('members')
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Projects' }).click()
    await page.getByRole('row').nth(1).click()
    await page.getByRole('button', { name: 'Delete…' }).waitFor()
    await seen.accessible('a project')
    await page.goto(on.stage.url(`workflows?sel=${scene.automation.workflowId}`))
    await page.getByRole('region', { name: 'Step classify' }).getByLabel('Input').waitFor()
    await seen.accessible('a workflow')
    await page.goto(on.stage.url(`sources?sel=${scene.automation.cronId}`))
    await page.getByRole('button', { name: 'Turn off' }).waitFor()
    await seen.accessible('a source')
    await seen.close()
  } finally {
    await suspend(on)
  }
})

add('a suspended workspace in the list of the operators', async () => {
  const { stage, database, headers } = on
  await aWorkspace(stage.world, database, 'acme-shop')
  const [acme] = (await ask(stage.world, 'GET platform/workspaces?q=acme', { headers })).body.workspaces
  await suspend({ ...on, workspaceId: acme.id }, 'Unpaid since May')
  const seen = await aPage()
  await seen.page.goto(stage.url('operator?q=acme'))
  await seen.page.getByRole('row').filter({ hasText: 'acme-shop' }).click()
  await seen.page.getByText('Unpaid since May').first().waitFor()
  await seen.accessible('the panel')
  await seen.close()
})

add('a closed workspace', async () => {
  const { stage } = on
  const seen = await aPage()
  const { page } = seen
  await page.goto(stage.url('workspace'))
  await page.getByRole('button', { name: 'Close…' }).click()
  await page.getByLabel('Type the workspace slug').fill(stage.world.installed.workspace.slug)
  await page.getByRole('button', { name: 'Close workspace' }).click()
  await page.getByRole('status').filter({ hasText: 'This workspace is closed.' }).waitFor()
  await seen.accessible('the banner')
  await page.getByRole('button', { name: 'Reopen' }).click()
  await page.getByText('The workspace is open again.').waitFor()
  await seen.close()
})

add('a workspace with a list of addresses', async () => {
  const { stage, headers } = on
  const change = async (ip_allowlist: readonly string[]): Promise<unknown> =>
    ask(stage.world, 'PUT settings/network', { headers, body: { ip_allowlist } })
  await change(['127.0.0.1'])
  const seen = await aPage()
  await seen.page.goto(stage.url('network'))
  await seen.page.getByRole('heading', { name: 'Restricted' }).waitFor()
  await seen.accessible('restricted')
  await change([])
  await seen.close()
})

add('an audit log that someone changed', async () => {
  const { stage, database } = on
  await database.run(sql`update audit_rows set action = 'create_nothing' where action = 'create_rule'`)
  const seen = await aPage()
  const { page } = seen
  await page.goto(stage.url('audit'))
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Verify' }).click()
  await page.getByText('The log is not intact.').waitFor()
  await seen.accessible('not intact')
  await database.run(sql`update audit_rows set action = 'create_rule' where action = 'create_nothing'`)
  await seen.close()
})

add('a person without a workspace', async () => {
  const { stage, database, workspaceId } = on
  const seen = await stage.member('viewer')
  const { page } = seen
  await page.goto(stage.url('overview'))
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await database.run(
    sql`delete from members where workspace_id = ${decodeId('workspace', workspaceId) ?? ''} and role = 'viewer'`,
  )
  await page.goto(stage.world.baseUrl)
  await page.getByRole('heading', { name: 'You are not a member of any workspace' }).waitFor()
  await seen.accessible('the way to a new one')
  await seen.close()
})

add('a server that does not respond', async () => {
  const { stage } = on
  const line = await aLine(stage.world.address)
  const seen = await aPage()
  const { page } = seen
  await page.goto(stage.url('events').replace(stage.world.baseUrl, line.url))
  await page.getByRole('link', { name: 'Rules' }).waitFor()
  line.cut()
  await page.getByRole('link', { name: 'Rules' }).click()
  await page.getByRole('heading', { name: 'The server is not responding' }).waitFor()
  await seen.accessible('waiting')
  line.mend()
  await page.getByRole('grid', { name: 'Rules' }).waitFor()
  // The browser logs the module that it could not load.
  seen.faults.splice(0)
  await seen.close()
  line.stop()
})

add('a month whose deliveries are used up', async () => {
  const { stage, database } = on
  const { clock, installed, app } = stage.world
  await database.run(sql`update workspaces set plan = 'team' where slug = 'main'`)
  await database.run(sql`
    insert into monthly_usage (workspace_id, month, events, deliveries)
    select id, ${`${new Date(clock.now()).toISOString().slice(0, 7)}-01`}::date, 2, 2500000
      from workspaces
     where slug = 'main'
    on conflict (workspace_id, month) do update set deliveries = excluded.deliveries
  `)
  app.deps.configChanged(decodeId('project', installed.project.id) ?? '')
  const seen = await aPage()
  const { page } = seen
  await page.goto(stage.url('deliveries?state=failed'))
  await page.getByRole('button', { name: 'Replay in bulk' }).click()
  await page.getByText(/^The monthly delivery quota is used up./).waitFor()
  await seen.accessible('the plan of a replay')
  await page.goto(stage.url('overview'))
  await page.getByText('All 2,500,000 are used up.').waitFor()
  await seen.accessible('the overview')
  await seen.close()
})

for (const { name, visit } of inEighth(states)) test(name, { skip: noBrowser }, visit)
