import { endless, heading, press, type Place } from './place.ts'
import type { RareScene } from './rare-scene.ts'

/** The states of the screens of deliveries and destinations that need a failure, a selection, or an unfinished entry. */
export const RARE_DELIVERY: readonly Place<RareScene>[] = [
  {
    name: 'request of an attempt',
    at: ({ failing }) => `deliveries?state=failed&destination=${failing.id}`,
    show: async ({ page }, { failing }, look) => {
      await page.getByRole('row').filter({ hasText: failing.name }).first().click()
      const request = page.getByRole('group', { name: 'Attempt 1 request' })
      await request.getByText(/^Body, /).click()
      await request.getByLabel('Request body').waitFor()
      await look('wide')
      await page.setViewportSize({ width: 1_024, height: 768 })
      await page.getByRole('button', { name: 'State: Failed' }).waitFor()
      await look('narrow')
    },
  },
  {
    name: 'selected deliveries',
    at: () => 'deliveries',
    show: async ({ page }, _scene, look) => {
      await page.getByRole('row').nth(2).waitFor()
      for (const row of [2, 1]) await page.getByRole('row').nth(row).getByRole('checkbox').check()
      const bar = page.getByRole('toolbar', { name: 'Selected' })
      await bar.getByText('2 selected').waitFor()
      await look('bar')
      await bar.getByRole('button', { name: 'Cancel' }).click()
      await page.getByText('There is nothing to do.').waitFor()
      await look('nothing to do')
    },
  },
  {
    name: 'export of deliveries',
    at: () => 'deliveries',
    show: async ({ page }) => {
      await page.getByRole('row').nth(1).waitFor()
      const delivery = {
        record_id: 'rec_1',
        dataset: 'd',
        destination_id: 'dst_1',
        state: 'failed',
        pause_reason: null,
        held_by: null,
        event: { title: null, payload_start: '{}' },
        attempt_count: 1,
        next_attempt_at: null,
        last_status: 500,
        last_error: null,
        created_at: '2026-01-15T11:00:00.000Z',
        updated_at: '2026-01-15T11:00:00.000Z',
      }
      await endless(page, {
        url: '**/deliveries?*limit=200*',
        pageOf: (n) => ({
          deliveries: [{ ...delivery, id: `dlv_${String(n).padStart(26, '0')}` }],
          next_cursor: `page${n}`,
        }),
      })
      await press(page, 'More')
      await page.getByRole('menuitem', { name: 'Export…' }).click()
      await page.getByRole('button', { name: 'Export', exact: true }).last().click()
      await page.getByText(/^(?:[3-9]|\d{2,}) rows/).waitFor()
      await press(page, 'Stop')
      await page.getByText(/^Stopped\. \d+ rows/).waitFor()
    },
  },
  {
    name: 'two moments of deliveries',
    at: () => 'deliveries',
    show: async ({ page }) => {
      await press(page, 'Filter by time')
      await page.getByRole('menuitem', { name: 'Between…' }).click()
      await page.getByRole('form', { name: 'Time' }).getByLabel('from', { exact: true }).waitFor()
    },
  },
  {
    name: 'replay in progress',
    at: () => 'deliveries',
    show: async ({ page }, _scene, look) => {
      await page
        .getByRole('list', { name: 'Replays in progress' })
        .getByRole('button', { name: 'Resume the replay' })
        .waitFor()
      await look('line')
      await page.getByRole('button', { name: 'Replays', exact: true }).click()
      await page.getByRole('list', { name: 'Replay history' }).getByRole('listitem').first().waitFor()
      await look('history')
    },
  },
  {
    name: 'replay with a range that cannot be',
    at: () => 'deliveries?open=plan',
    show: async ({ page }) => {
      await page.getByText('Between…', { exact: true }).click()
      await page.getByLabel('From', { exact: true }).fill('2026-01-02T10:00')
      await page.getByLabel('To', { exact: true }).fill('2026-01-02T09:00')
      await page.getByText('The start of the time range is after its end.').waitFor()
    },
  },
  {
    name: 'new destination in full',
    at: () => 'destinations?new=1',
    show: async ({ page }, _scene, look) => {
      await press(page, /^Webhook receiver/)
      await page.getByText('Retries, headers and limits').click()
      await page.getByText('Order: in parallel').click()
      await page.getByText('In order by key').click()
      await page.getByLabel('Key path').waitFor()
      await look('webhook')
      await press(page, 'Back')
      await press(page, /^PagerDuty/)
      await page.getByText('Body: a message for PagerDuty').click()
      await page.getByLabel('Body preview').getByText('New event').waitFor()
      await look('preset')
    },
  },
  {
    name: 'destination that is made',
    at: () => 'destinations?new=1',
    show: async ({ page }, _scene, look) => {
      await press(page, /^Webhook receiver/)
      await page.getByLabel('URL', { exact: true }).fill('https://example.com/hook')
      await page.getByLabel('Name', { exact: true }).fill('Rarely used')
      await page.getByText('Only selected').click()
      await page.getByLabel('Datasets', { exact: true }).fill('nothing')
      await press(page, /^Create$/)
      await page.getByRole('group', { name: 'Signing secret' }).locator('code').waitFor()
      await look('secret')
      await press(page, 'Done')
      await heading(page, 'Rarely used')
      await page.getByRole('tab', { name: 'Signing' }).click()
      const dialog = page.getByRole('dialog', { name: 'Rotate the secret?' })
      await press(page, 'Rotate the secret')
      await dialog.getByRole('button', { name: 'Rotate the secret' }).click()
      await page.getByText('also signs, expires').waitFor()
      await look('rotated')
      await press(page, 'Rotate the secret')
      await dialog.getByRole('checkbox', { name: 'Expire the previous secret now' }).waitFor()
      await look('second rotation')
    },
  },
  {
    name: 'settings of a destination with mistakes',
    at: ({ failing }) => `destinations?sel=${failing.id}&tab=settings`,
    show: async ({ page }, _scene, look) => {
      await page.getByText('On a custom schedule').click()
      await page.getByLabel('Waits before each attempt').fill('0s, 1x')
      await page.getByText('“1x” is not a wait').first().waitFor()
      await look('mistake')
      await page.getByLabel('Waits before each attempt').fill('0s, 30s, 5m')
      await page.getByRole('img', { name: '3 attempts' }).waitFor()
      await page.getByText('In order by key').click()
      await page.getByRole('alert').first().waitFor()
      await look('schedule and order')
    },
  },
  {
    name: 'body of a destination',
    at: ({ failing }) => `destinations?sel=${failing.id}&tab=body`,
    show: async ({ page }, _scene, look) => {
      await page.getByText('Custom JSON').click()
      await page.getByLabel('Template', { exact: true }).fill('{"text":')
      await page.getByText('This is not valid JSON').first().waitFor()
      await look('mistake')
      await page.getByLabel('Template', { exact: true }).fill('{"text":"{{ dataset | upcase }}"}')
      await page.getByLabel('Body preview').getByText('BULK').waitFor()
      await look('preview')
    },
  },
  {
    name: 'authentication of a destination',
    at: ({ failing }) => `destinations?sel=${failing.id}&tab=auth`,
    show: async ({ page }) => {
      await page.getByRole('tab', { name: 'Authentication' }).click()
      await page.getByLabel('Method').selectOption('bearer')
      await page.getByLabel('Token', { exact: true }).fill('t0p-secret')
      await press(page, 'Save authentication')
      await page.getByPlaceholder('stored; leave empty to keep it').waitFor()
    },
  },
  {
    name: 'test of a destination that fails',
    at: ({ failing }) => `destinations?sel=${failing.id}`,
    show: async ({ page }) => {
      await press(page, 'Send a test')
      await press(page, 'Send test')
      await page.getByText('The test failed').waitFor()
    },
  },
  {
    name: 'test of a destination that succeeds',
    at: ({ healthy }) => `destinations?sel=${healthy.id}`,
    show: async ({ page }) => {
      await press(page, 'Send a test')
      await press(page, 'Send test')
      await page.getByText('The test succeeded').waitFor()
    },
  },
  {
    name: 'edits that a person leaves',
    at: ({ failing }) => `destinations?sel=${failing.id}&tab=settings`,
    show: async ({ page }, _scene, look) => {
      await page.getByLabel('Name', { exact: true }).fill('Renamed')
      await page.getByRole('tab', { name: 'Signing' }).click()
      await page.getByRole('dialog', { name: 'Discard changes?' }).waitFor()
      await look('page')
      await page.getByRole('button', { name: 'Discard changes' }).click()
      await page.getByRole('link', { name: 'Rules' }).click()
      await press(page, 'New rule')
      await page.getByLabel('Name', { exact: true }).fill('half a rule')
      await page.keyboard.press('Escape')
      await page.getByText('Discard what you entered?').waitFor()
      await look('dialog')
    },
  },
]
