import { AUTOMATION_PLACES } from './automation-places.ts'
import { eachTab, grid, heading, press, type Place } from './place.ts'
import { SETTINGS_PLACES } from './settings-places.ts'

/**
 * Every screen of the console and everything that opens on it, once: the tests of accessibility walk these places, and so does
 * `npm run screenshots`.
 */

export { openPlace, type Place } from './place.ts'
export { AUTOMATION_PLACES }

/** The places of daily work. */
export const PLACES: readonly Place[] = [
  {
    name: 'overview',
    at: () => 'overview',
    show: ({ page }) =>
      page
        .getByRole('group', { name: 'Numbers' })
        .or(page.getByRole('heading', { name: 'No events in this time range' }))
        .waitFor(),
  },
  {
    name: 'map as a table',
    at: () => 'overview?map=table',
    show: ({ page }) => page.getByRole('region', { name: 'Map', exact: true }).waitFor(),
  },
  {
    name: 'events',
    at: () => 'events',
    show: async ({ page }, { event }) => page.getByText(event.title).first().waitFor(),
  },
  {
    name: 'event',
    at: ({ event }) => `events?sel=${event.id}`,
    show: async (seen, _scene, look) => {
      await seen.page.getByRole('treeitem').first().waitFor()
      await look('Payload')
      await eachTab(seen, ['Headers', 'Deliveries', 'Response', 'Routing', 'Raw'], look)
    },
  },
  {
    name: 'events that nothing matches',
    at: () => 'events?f=total:gt:100000000',
    show: ({ page }) => heading(page, /^0 of /),
  },
  {
    name: 'rejected requests',
    at: () => 'events?view=rejected',
    show: async ({ page }) => {
      await page.getByText('missing_header').first().click()
      await page.getByRole('region', { name: 'Rejected requests' }).waitFor()
    },
  },
  {
    name: 'send event',
    at: () => 'events',
    show: async ({ page }) => {
      await press(page, 'Send event')
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'deliveries',
    at: () => 'deliveries',
    show: async ({ page }, { healthy }) => page.getByText(healthy.name).first().waitFor(),
  },
  {
    name: 'delivery',
    at: ({ failing }) => `deliveries?state=failed&destination=${failing.id}`,
    show: async ({ page }, { failing }) => {
      await page.getByRole('row').filter({ hasText: failing.name }).first().click()
      await page.getByRole('group', { name: 'Attempts' }).getByText('500').first().waitFor()
    },
  },
  {
    name: 'plan of a replay',
    at: () => 'deliveries?state=failed',
    show: async ({ page }) => {
      await press(page, 'Replay in bulk')
      await page.getByText(/^[\d,]+ deliver(?:y|ies), /).waitFor()
    },
  },
  {
    name: 'palette',
    at: () => 'deliveries',
    show: async ({ page }) => {
      await press(page, 'Search or run')
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'keys',
    at: () => 'deliveries',
    show: async ({ page }, { healthy }) => {
      await page.getByText(healthy.name).first().waitFor()
      await page.keyboard.press('?')
      await heading(page, 'Keyboard shortcuts')
    },
  },
  {
    name: 'page that is not there',
    at: () => 'nothing',
    show: ({ page }) => page.getByText('There is no page at this address').waitFor(),
  },
]

/** The screens of the setup, and places that people open less often. */
export const MORE_PLACES: readonly Place[] = [
  ...SETTINGS_PLACES,
  {
    name: 'first run',
    at: () => 'events',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'Send your first event'),
  },
  {
    name: 'columns',
    at: () => 'events',
    show: async ({ page }) => {
      await press(page, 'Columns')
      await page.getByRole('checkbox', { name: 'Took' }).waitFor()
    },
  },
  {
    name: 'compare two events',
    at: ({ event }) => `events?f=type:equals:${event.title}`,
    show: async ({ page }) => {
      for (const row of [2, 1]) await page.getByRole('row').nth(row).getByRole('checkbox').check({ force: true })
      await page.getByRole('toolbar').first().waitFor()
      await page.keyboard.press('=')
      await page.getByRole('region', { name: 'Payload' }).waitFor()
    },
  },
  {
    name: 'held deliveries',
    at: () => 'deliveries?state=held',
    show: ({ page }) => page.getByRole('group', { name: 'State' }).waitFor(),
  },
  {
    name: 'history of replays',
    at: () => 'deliveries?open=history',
    show: ({ page }) => page.getByRole('dialog').waitFor(),
  },
  {
    name: 'no deliveries',
    at: () => 'deliveries',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'Nothing has been delivered yet'),
  },
  { name: 'endpoints', at: () => 'endpoints', show: ({ page }) => grid(page, 'Endpoints') },
  {
    name: 'endpoint',
    at: ({ endpointId }) => `endpoints?sel=${endpointId}`,
    show: async (seen, _scene, look) => {
      await seen.page.getByRole('tab', { name: 'Activity' }).waitFor()
      await eachTab(
        seen,
        ['Activity', 'Records', 'Setup', 'Verification', 'Criteria and mappings', 'Access', 'Versions'],
        look,
      )
    },
  },
  {
    name: 'new endpoint',
    at: () => 'endpoints?new=1',
    show: async ({ page }, _scene, look) => {
      await page.getByRole('button', { name: /^Stripe/ }).waitFor()
      await look('senders')
      await press(page, /^Stripe/)
      await page.getByRole('button', { name: 'Create the URL' }).waitFor()
      await look('form')
    },
  },
  { name: 'ingest keys', at: () => 'ingest-keys', show: ({ page }) => grid(page, 'Ingest keys') },
  {
    name: 'ingest key',
    at: ({ ingestKeyId }) => `ingest-keys?sel=${ingestKeyId}`,
    show: async (seen, _scene, look) => {
      await seen.page.getByRole('tab', { name: 'Use', exact: true }).waitFor()
      await eachTab(seen, ['Use', 'Settings', 'Signature', 'Rejected'], look)
    },
  },
  {
    name: 'new ingest key',
    at: () => 'ingest-keys?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  {
    name: 'no ingest key',
    at: () => 'ingest-keys',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No ingest keys yet'),
  },
  {
    name: 'rejections',
    at: () => 'rejections',
    show: async ({ page }, _scene, look) => {
      const cause = page.getByRole('row').filter({ hasText: 'The signature header was missing' })
      await cause.waitFor()
      await look('list')
      await cause.click()
      await page.getByRole('region', { name: 'Cause' }).waitFor()
      await look('cause')
    },
  },
  {
    name: 'no rejections',
    at: () => 'rejections',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No rejected requests'),
  },
  { name: 'rules', at: () => 'rules', show: ({ page }) => grid(page, 'Rules') },
  {
    name: 'rule',
    at: ({ ruleId }) => `rules?sel=${ruleId}`,
    show: async (seen, _scene, look) => {
      await seen.page
        .getByText(/of the last \d+ events? match|reached the rules/)
        .first()
        .waitFor()
      await look('Rule')
      await eachTab(seen, ['Goes to'], look)
    },
  },
  {
    name: 'new rule',
    at: () => 'rules?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  {
    name: 'no rule',
    at: () => 'rules',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No rules yet'),
  },
  { name: 'transforms', at: () => 'transforms', show: ({ page }) => grid(page, 'Transforms') },
  {
    name: 'transform',
    at: ({ transformId }) => `transforms?sel=${transformId}`,
    show: async (seen, _scene, look) => {
      await seen.page.getByRole('button', { name: 'Run test' }).click()
      await seen.page.getByText(/differences in the body|nothing is sent/).waitFor()
      await look('Code')
      await eachTab(seen, ['Versions'], look)
    },
  },
  {
    name: 'new transform',
    at: () => 'transforms?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  {
    name: 'no transform',
    at: () => 'transforms',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No transforms yet'),
  },
  { name: 'destinations', at: () => 'destinations', show: ({ page }) => grid(page, 'Destinations') },
  {
    name: 'destination',
    at: ({ healthy }) => `destinations?sel=${healthy.id}`,
    show: async (seen, _scene, look) => {
      await seen.page.getByRole('tab', { name: 'Settings' }).waitFor()
      await eachTab(seen, ['Deliveries', 'Settings', 'Body', 'Signing', 'Authentication'], look)
    },
  },
  {
    name: 'failing destination',
    at: ({ failing }) => `destinations?sel=${failing.id}`,
    show: ({ page }, { failing }) => heading(page, failing.name),
  },
  {
    name: 'test of a destination',
    at: ({ healthy }) => `destinations?sel=${healthy.id}`,
    show: async ({ page }) => {
      await press(page, 'Send a test')
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'new destination',
    at: () => 'destinations?new=1',
    show: async ({ page }, _scene, look) => {
      await page.getByRole('button', { name: /^Webhook receiver/ }).waitFor()
      await look('presets')
      await press(page, /^Webhook receiver/)
      await page.getByLabel('URL', { exact: true }).waitFor()
      await look('form')
    },
  },
  {
    name: 'deleted',
    at: () => 'deleted',
    show: ({ page }) =>
      page
        .getByRole('grid', { name: 'Deletions' })
        .or(page.getByRole('heading', { name: 'Nothing was deleted in the last 24 hours' }))
        .waitFor(),
  },
  { name: 'portals', at: () => 'portals', show: ({ page }) => grid(page, 'Portals') },
  {
    name: 'portal',
    at: ({ portalId }) => `portals?sel=${portalId}`,
    show: async (seen, _scene, look) => {
      const { page } = seen
      await page.getByRole('list', { name: 'Customers' }).locator('summary').first().click()
      await page.getByRole('list', { name: 'Links' }).waitFor()
      await look('Customers')
      await page.getByRole('tab', { name: 'Appearance' }).click()
      await page.frameLocator('iframe').getByRole('heading', { name: 'Destinations' }).waitFor()
      await look('Appearance')
      await eachTab(seen, ['Settings', 'Embed'], look)
    },
  },
  {
    name: 'link for a customer',
    at: ({ portalId }) => `portals?sel=${portalId}`,
    show: async ({ page }) => {
      await press(page, 'New customer')
      await page.getByRole('dialog').getByLabel('Your ID for the customer').waitFor()
    },
  },
  {
    name: 'new portal',
    at: () => 'portals?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  {
    name: 'no portal',
    at: () => 'portals',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No portals yet'),
  },
  { name: 'billing', at: () => 'billing', show: ({ page }) => heading(page, / plan$/) },
  {
    name: 'no destination',
    at: () => 'destinations',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No destinations yet'),
  },
]
